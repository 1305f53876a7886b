package csharp

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskLoads holds what stays because it runs when a program starts, or a type is used first.
func TestMaskLoads(t *testing.T) {
	t.Parallel()
	const b = "-- B.cs --\nnamespace N;\nclass B : C {\n  int n = Field();\n  public B(int a) : base(Two()) { n = a; }\n  public B Self() { return Deep(); }\n" +
		"  public static int Two() { return 2; }\n  static int Field() { return 1; }\n  static B Deep() => null!;\n  public static B Default { get => Deep(); set { Two(); } }\n}\n" +
		"class C {\n  public C(int n) { n++; }\n}\n-- A.cs --\nusing N;\nclass A {\n  int One() { return 1; }\n"
	masktest.Keeps(t, Masker{}, b, map[string][2]string{
		"a_static_field":            {"  [A(\"x\")] private static readonly int x = All();\n  static int All() => B.Two();\n}\n", "A.All B.Two"},
		"a_static_constructor":      {"  static A() { B.Two(); }\n}\n", "A.A B.Two"},
		"a_static_property":         {"  public static int X { get; } = B.Two();\n}\n", "B.Two"},
		"a_field_of_an_object":      {"  readonly int x = B.Two();\n  public int Y { get; } = B.Two();\n  event E Z = Make(B.Two());\n}\n", ""},
		"a_constructor":             {"  static B x = new(1);\n}\n", "B.B B.Two C.C"},
		"a_constructor_by_another":  {"  static A x = new A();\n  A() : this(B.Two()) { }\n  A(int n) { One(); }\n}\n", "A.One A.A A.A B.Two"},
		"a_constructor_of_a_base":   {"  static D x = new D();\n}\nclass D : N.C, I {\n  D() : base(1) { }\n}\n", "D.D C.C"},
		"a_property_that_is_read":   {"  static B x = B.Default;\n}\n", "B.Two B.Deep B.Default B.Default"},
		"a_method_by_a_type":        {"  static B? x;\n  static int y = x?.Self();\n  B Self() { return null; }\n}\n", "B.Self B.Deep"},
		"one_of_a_variable_s_type":  {"  static int x = Go();\n  static int Go() { var b = new B(1); b.Self(); string s = null; s.Two(); s.One(); return 1; }\n  B Self() { return null; }\n}\n", "A.Go B.B B.Self B.Two B.Deep C.C"},
		"a_class_of_others":         {"  static A a = new();\n  static int x = Console.Two();\n  static int y = string.One();\n}\n", ""},
		"a_lambda_that_a_field_has": {"  static readonly Func<int> F = () => B.Two();\n  static Func<int> G { get; } = () => B.Two();\n}\n", ""},
		"statements_of_a_program":   {"}\n-- P.cs --\nvar one = Make(1);\nLocal();\nvoid Local() { int Two() => 1; Two(); }\nint Make(int n) => n;\n", "Local Make"},
	})
}
