package java

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskLoads holds what stays because it runs when a class is loaded.
func TestMaskLoads(t *testing.T) {
	t.Parallel()
	const b = "-- b/B.java --\npackage b;\npublic class B extends C {\n  int n = field();\n  { block(); }\n  B(int a) { n = a; }\n  B self() { return deep(); }\n" +
		"  public static int two() { return 2; }\n  static int field() { return 1; }\n  static void block() { x(); }\n  static B deep() { return null; }\n}\n" +
		"class C {\n  C() { C.x = 1; }\n}\n-- A.java --\nimport b.B;\nimport static b.B.two;\nclass A {\n  int one() { return 1; }\n"
	masktest.Keeps(t, Masker{}, b, map[string][2]string{
		"of_what_a_call_gives":       {"  static int x = List.of(1).first().size() + List.of(new A()).own() + List.of(1).toString().length();\n  int size() { return B.two(); }\n  public String toString() { return two(); }\n  int own() { return 2; }\n}\nclass C2 { int first() { return 1; } }\n", "A.size A.own B.<init block> B.two"},
		"a_static_field":             {"  static int x = all();\n  static int all() { return two(); }\n}\n", "A.all B.<init block> B.two"},
		"a_static_block":             {"  static { B.two(); }\n}\n", "A.<static> B.<init block> B.two"},
		"a_field_of_an_interface":    {"  interface I {\n    int X = B.two();\n  }\n}\n", "B.<init block> B.two"},
		"a_field_of_an_object":       {"  private final int x = B.two();\n  @Deprecated A a = new A();\n}\n", "B.<init block>"},
		"a_constructor":              {"  @Deprecated(since = \"2\") private static final B x = new B(1);\n}\n", "B.<init block> B.<init> B.block C.<init>"},
		"a_constructor_by_another":   {"  static A x = new A();\n  A() { this(B.two()); }\n  A(int n) { one(); }\n}\n", "A.one A.<init> A.<init> B.<init block> B.two"},
		"a_constant_of_an_enum":      {"  enum E {\n    ONE(1) { int f() { return 1; } };\n    E(int n) { B.two(); }\n  }\n}\n", "A.E.<init> B.<init block> B.two"},
		"a_method_by_a_type":         {"  static B x;\n  static { x.self(); }\n  B self() { return null; }\n}\n", "A.<static> B.<init block> B.self B.deep"},
		"a_resource_is_closed":       {"  static { try (A a = null) { } }\n  public void close() { B.two(); }\n}\n", "A.<static> A.close B.<init block> B.two"},
		"a_class_of_others":          {"  static int x = Integer.two();\n  static String s;\n  static int y = s.one();\n}\n", "B.<init block>"},
		"what_is_handed_to_a_call":   {"  static int x = run(A::two, B::new);\n  static int run(Object a, Object b) { return 1; }\n  static int two() { return 2; }\n}\n", "A.run A.two B.<init block> B.<init> B.block C.<init>"},
		"a_lambda_that_a_field_has":  {"  static final Runnable R = () -> B.two();\n  static final Runnable T = B::two;\n}\n", "B.<init block>"},
		"a_method_of_a_local_object": {"  static Object x = make();\n  static Object make() { return new Object() { int one() { return B.two(); } }; }\n}\n", "A.make B.<init block>"},
	})
}
