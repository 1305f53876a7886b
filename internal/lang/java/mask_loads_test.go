package java

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskResults holds that a method is that of the type that is written, wherever it is.
func TestMaskResults(t *testing.T) {
	t.Parallel()
	const head = "-- B.java --\nclass B {\n  B next() { return this; }\n  C other() { return null; }\n  C other(int a) { return null; }\n  C box;\n  <T> T any() { return null; }\n" +
		"  String text() { return null; }\n  Object some() { return null; }\n  Runnable later() { return null; }\n  int go() { return A.use(); }\n  C box() { return null; }\n}\n" +
		"-- C.java --\nclass C extends D {\n  int go() { return A.use(); }\n  int length() { return A.use(); }\n  B up(int a) { return null; }\n}\n" +
		"-- D.java --\nclass D {\n  C up() { return null; }\n}\n" +
		"-- A.java --\nimport java.util.List;\nclass A {\n  static C make() { return new C(); }\n  static B start() { return new B(); }\n  static int use() { return 1; }\n  static List<C> many() { return null; }\n" +
		"  static List<C> all;\n  static C box;\n  static B box() { return null; }\n  static {\n    new B(); new C();\n"
	masktest.Keeps(t, Masker{}, head, map[string][2]string{
		"a_result":                       {"    make().go();\n  }\n}\n", "A.make A.use A.<static> C.go"},
		"a_chain":                        {"    start().next().other().go();\n  }\n}\n", "A.start A.use A.<static> B.next B.other B.other C.go"},
		"a_local":                        {"    var b = start().next();\n    b.go();\n  }\n}\n", "A.start A.use A.<static> B.next B.go"},
		"a_field_of_a_result":            {"    start().box.go();\n  }\n}\n", "A.start A.use A.<static> C.go"},
		"a_field_with_a_method":          {"    box.go();\n  }\n}\n", "A.use A.<static> C.go"},
		"a_method_with_a_field":          {"    box().go();\n  }\n}\n", "A.use A.box A.<static> B.go"},
		"a_type_of_the_method":           {"    start().any().go();\n  }\n}\n", "A.start A.use A.<static> B.any B.go C.go"},
		"a_text":                         {"    start().text().length();\n  }\n}\n", "A.start A.<static> B.text"},
		"an_object":                      {"    start().some().go();\n  }\n}\n", "A.start A.use A.<static> B.some B.go C.go"},
		"one_of_the_platform":            {"    start().later().go();\n  }\n}\n", "A.start A.use A.<static> B.later B.go C.go"},
		"what_it_holds":                  {"    many().get(0).go();\n  }\n}\n", "A.use A.many A.<static> B.go C.go"},
		"what_a_field_holds":             {"    all.get(0).go();\n  }\n}\n", "A.use A.<static> B.go C.go"},
		"what_a_local_holds":             {"    List<C> l = null;\n    var c = l;\n    c.get(0).go();\n  }\n}\n", "A.use A.<static> B.go C.go"},
		"an_overload_of_a_parent":        {"    make().up(1).go();\n  }\n}\n", "A.make A.use A.<static> B.go C.go C.up"},
		"a_parent_s":                     {"    super.hashCode().go();\n  }\n}\n", "A.use A.<static> B.go C.go"},
		"a_method_of_no_type_here":       {"    start().gone().go();\n  }\n}\n", "A.start A.use A.<static> B.go C.go"},
		"what_one_of_the_platform_holds": {"    ThreadLocal<C> l = null;\n    l.get().go();\n  }\n}\n", "A.use A.<static> B.go C.go"},
		"a_chain_that_is_long":           {"    start()" + strings.Repeat(".next()", 9) + ".go();\n  }\n}\n", "A.start A.use A.<static> B.next B.go C.go"},
		"an_overload_without_an_object": {"    new E().up().go();\n  }\n}\n-- E.java --\nclass E extends F {\n  C up() { return null; }\n}\n" +
			"-- F.java --\nclass F {\n  int up(int a) { return 1; }\n  double up(double a) { return 1; }\n  boolean up(boolean a) { return true; }\n  void up(String a) { A.use(); }\n}\n", "A.use A.<static> C.go E.up"},
		"a_text_of_what_is_not_known":       {"    new E();\n    B[] b = null;\n    b[0].toString();\n  }\n}\n-- E.java --\nclass E {\n  public String toString() { return \"\" + A.use(); }\n}\n", "A.<static>"},
		"one_of_a_class_in_a_text_s":        {"    new E().up().go();\n  }\n}\n-- E.java --\nclass E {\n  Character.Subset up() { return null; }\n}\n", "A.use A.<static> B.go C.go E.up"},
		"a_type_of_the_method_with_a_class": {"    start().any().go();\n  }\n}\n-- T.java --\nclass T {\n  int go() { return 1; }\n}\n", "A.start A.use A.<static> B.any B.go C.go"},
		"a_class_of_the_platform_s_name":    {"    many().get(0).go();\n  }\n}\n-- List.java --\nclass List {\n  B get(int a) { return null; }\n}\n", "A.use A.many A.<static> B.go C.go"},
		"a_type_of_the_class":               {"    new E<C>().up().go();\n  }\n}\n-- E.java --\nclass E<T> {\n  T up() { return null; }\n}\nclass T {\n  int go() { return 1; }\n}\n", "A.use A.<static> B.go C.go E.up"},
		"a_type_of_the_interface":           {"    E.one.up().go();\n  }\n}\n-- E.java --\ninterface E<T> {\n  E<C> one = new E<C>() { };\n  default T up() { return null; }\n}\nclass T {\n  int go() { return 1; }\n}\n", "A.use A.<static> B.go C.go E.up"},
		"a_type_of_the_record":              {"    new E<C>(1).up().go();\n  }\n}\n-- E.java --\nrecord E<T>(int a) {\n  T up() { return null; }\n}\nclass T {\n  int go() { return 1; }\n}\n", "A.use A.<static> B.go C.go E.up"},
		"a_type_of_a_method_around":         {"    E.all();\n  }\n}\n-- E.java --\nclass E {\n  static <T> int all() {\n    class L {\n      T up() { return null; }\n    }\n    new L().up().go();\n    return 1;\n  }\n}\nclass T {\n  int go() { return 1; }\n}\n", "A.use A.<static> B.go C.go E.all E.all.L.up"},
	})
}

// TestMaskConstants holds that an object of an enumeration is there once that is loaded, of
// the class that it has for itself.
func TestMaskConstants(t *testing.T) {
	t.Parallel()
	masktest.Keeps(t, Masker{}, "-- E.java --\nenum E {\n  ONE { int go() { return use(); } },\n  TWO;\n  int go() { return 2 + use(); }\n  static int use() { return 1; }\n}\n-- A.java --\nclass A {\n", map[string][2]string{
		"called_on_the_type":     {"  static int x = run(E.ONE);\n  static int run(E e) { return e.go(); }\n}\n", "A.run E.ONE.go E.go E.use"},
		"called_on_what_is_none": {"  static int run(E e) { return e.go(); }\n}\n", ""},
	})
}
