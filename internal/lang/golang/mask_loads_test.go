package golang

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskValues holds when a function runs that is handed over, or has no name.
func TestMaskValues(t *testing.T) {
	t.Parallel()
	const head = "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage a\nimport \"sort\"\nvar _ = sort.Ints\ntype T struct { f func(int); h func(a, b int) }\ntype H func(int)\nfunc (h H) Serve() { h(1) }\nfunc one(a int) { use() }\nfunc two(a, b int) { use() }\nfunc use() { sort.Ints(nil) }\n"
	masktest.Keeps(t, Masker{}, head, map[string][2]string{
		"kept_for_later":                   {"var all []H\nfunc add(f H) { all = append(all, f) }\nfunc init() { add(one) }\n", "add init"},
		"called_by_what_gets_it":           {"func call(f func(int)) { f(1) }\nfunc init() { call(one); call(nil) }\n", "one use call init"},
		"of_another_number":                {"func call(f func(int), g func(a, b int)) { f(1) }\nfunc init() { call(one, two) }\n", "one use call init"},
		"called_in_the_end":                {"var all []H\nfunc add(f H) { all = append(all, f) }\nfunc init() { add(one); for _, f := range all { f(1) } }\n", "one use add init"},
		"called_before":                    {"var all []H\nfunc add(f H) { all = append(all, f) }\nfunc run(f H) { f(1) }\nfunc init() { run(nil); add(one) }\n", "one use add run init"},
		"given_to_others":                  {"func init() { sort.Slice(nil, two) }\n", "two use init"},
		"handed_on_to_others":              {"func on(less func(a, b int)) { sort.Slice(nil, less) }\nfunc init() { on(two) }\n", "two use on init"},
		"given_to_what_is_unknown":         {"func init() { get().Add(one) }\n", "one use init"},
		"a_literal_for_later":              {"func add(f func()) {}\nfunc reg(f func()) { keep = f }\nvar keep func()\nfunc init() { reg(func() { use() }) }\n", "add reg init"},
		"a_literal_for_others":             {"func init() { sort.Slice(nil, func(a, b int) bool { use(); return true }) }\n", "use init"},
		"a_literal_that_is_called":         {"func init() { func() { use() }(); defer func() { one(1) }() }\n", "one use init"},
		"a_literal_that_is_bound":          {"func init() { f := func(a int) { use() }; f(1) }\n", "use init"},
		"a_literal_that_is_given":          {"func make2() func(a, b int) { return func(a, b int) { two(a, b) } }\nvar x = make2()\n", "make2"},
		"what_was_given_is_called":         {"func make2() func(a, b int) { return func(a, b int) { two(a, b) } }\nfunc init() { make2()(1, 2) }\n", "two use make2 init"},
		"a_literal_in_a_literal":           {"func init() { f := func() func(int) { return func(a int) { use() } }; f() }\n", "init"},
		"both_are_called":                  {"func init() { f := func() func(int) { return func(a int) { use() } }; f()(1) }\n", "use init"},
		"by_its_field":                     {"func init() { t := T{f: func(a int) { use() }}; t.f(1) }\n", "use init"},
		"by_another_field":                 {"func init() { t := T{f: func(a int) { use() }}; t.h(1, 2) }\n", "init"},
		"a_method_is_no_field":             {"type M struct{}\nfunc (M) Do(a int) { sort.Ints(nil) }\nfunc init() { get().Do(1); keep = func(a int) { use() } }\nvar keep H\n", "init"},
		"a_variable_that_is_called":        {"var keep = H(nil)\nfunc init() { keep(1); run(one) }\nfunc run(f H) { keep = f }\n", "one use init run"},
		"a_conversion":                     {"func init() { keep = H(one); _ = (*T)(nil) }\nvar keep H\n", "init"},
		"any_number":                       {"func init() { run(func(a ...int) { use() }, one) }\nfunc run(f func(...int), g H) { f(1, 2, 3) }\n", "use init run"},
		"arguments_from_a_slice":           {"func init() { run(one, two) }\nfunc run(f H, g func(a, b int)) { h := get(); h([]int{}...) }\n", "one two use init run"},
		"arguments_from_a_slice_of_a_type": {"func init() { run(one, two) }\nfunc run(f H, g func(a, b int)) { var h func(...int); h([]int{}...) }\n", "init run"},
		"arguments_from_a_call":            {"func init() { run(two) }\nfunc run(f func(a, b int)) { f(get()) }\n", "two use init run"},
		"a_loop_over_a_function":           {"func seq() func(func(int) bool) { return func(yield func(int) bool) { use(); yield(1) } }\nfunc init() { for range seq() {} }\n", "use seq init"},
		"a_loop_over_a_parameter":          {"-- b.go --\npackage a\nimport \"iter\"\nfunc run(s iter.Seq[int]) { for range s { print() } }\nfunc init() { run(func(yield func(int) bool) { use() }) }\n", "use run init"},
		"several_functions":                {"func reg(all ...func(int)) { for _, f := range all { keep = f } }\nvar keep H\nfunc init() { reg(one) }\n", "reg init"},
		"a_method_of_an_interface":         {"type M struct{}\nfunc (M) Do() { use() }\ntype I interface{ Do() }\nfunc run(i I) { i.Do() }\nfunc init() { run(M{}) }\n", "use M.Do run init"},
		"an_interface_that_wants_more":     {"type M struct{}\nfunc (M) Do() { use() }\ntype I interface{ Do(); More() }\nfunc run(i I) { i.Do() }\nvar m = M{}\nfunc init() { run(nil) }\n", "run init"},
		"an_object_of_a_variable":          {"type M struct{}\nfunc (M) Do() { use() }\ntype I interface{ Do() }\nfunc run(i I) { i.Do() }\nvar m M\nfunc init() { run(m) }\n", "use M.Do run init"},
		"an_object_in_a_field":             {"type M struct{}\nfunc (M) Do() { use() }\ntype I interface{ Do() }\ntype F struct{ m M }\nfunc run(i I) { i.Do() }\nfunc init() { _ = &F{}; run(nil) }\n", "use M.Do run init"},
		"a_pointer_in_a_field":             {"type M struct{}\nfunc (M) Do() { use() }\ntype I interface{ Do() }\ntype F struct{ m *M }\nfunc run(i I) { i.Do() }\nfunc init() { _ = &F{}; run(nil) }\n", "run init"},
		"a_pointer_that_is_converted":      {"type M int\nfunc (*M) Do() { use() }\ntype I interface{ Do() }\nfunc run(i I) { i.Do() }\nfunc at(x *int) *M { return (*M)(x) }\nfunc init() { run(at(nil)) }\n", "use M.Do run at init"},
		"an_object_that_is_new":            {"type M struct{}\nfunc (M) Do() { use() }\ntype I interface{ Do() }\nfunc run(i I) { i.Do() }\nfunc init() { run(new(M)) }\n", "use M.Do run init"},
		"an_object_that_is_sorted":         {"type L []int\nfunc (L) Len() int { use(); return 0 }\nfunc (L) Less(i, j int) bool { return true }\nfunc (L) Swap(i, j int) { use() }\nfunc (L) Sum() int { return 1 }\nfunc init() { l := L{}; sort.Sort(l) }\n", "use L.Len L.Less L.Swap init"},
		"a_package_under_another_name":     {"-- b.go --\npackage a\nimport order \"sort\"\ntype L []int\nfunc (L) Len() int { return 0 }\nfunc (L) Sum() int { return 1 }\nfunc init() { order.Sort(L{}) }\n", "L.Len init"},
		"another_package_of_the_name":      {"-- b.go --\npackage a\nimport \"text/sort\"\ntype L []int\nfunc (L) Len() int { return 0 }\nfunc init() { sort.Sort(L{}) }\n", "init"},
		"a_variable_of_a_package_s_name":   {"type L []int\nfunc (L) Len() int { use(); return 0 }\nfunc init() { sort := get(); sort.Sort(L{}) }\n", "init"},
		"a_field_that_is_given_to_others":  {"func init() { t := T{h: two}; u := t.h; sort.Slice(nil, t.h) }\n", "two use init"},
		"a_field_that_was_read_and_given":  {"func init() { t := T{h: two, f: one}; get(t.h); sort.Slice(nil, t.h) }\n", "two use init"},
		"a_field_that_is_given_to_ours":    {"func keep(f func(a, b int)) {}\nfunc init() { t := T{h: two}; keep(t.h) }\n", "keep init"},
		"a_method_of_a_field_s_name":       {"type M struct{}\nfunc (M) h(a, b int) { use() }\nvar t = T{h: two}\nfunc init() { m := M{}; sort.Slice(nil, m.h) }\n", "use M.h init"},
		"a_field_that_others_get_first":    {"var t T\nfunc init() { sort.Slice(nil, t.h); set() }\nfunc set() { t.h = two; t.f = one }\n", "two use init set"},
		"a_method_that_is_given_to_others": {"type O struct{}\nfunc (o *O) less(a, b int) bool { use(); return true }\nfunc (o *O) run() { sort.Slice(nil, o.less) }\nfunc init() { (&O{}).run() }\n", "use O.less O.run init"},
		"a_method_of_what_is_not_known":    {"type O struct{}\nfunc (o *O) less(a, b int) bool { use(); return true }\nvar o = O{}\nfunc init() { for _, x := range get() { sort.Slice(nil, x.less) } }\n", "use O.less init"},
		"a_variable_that_is_sorted":        {"type L []int\nfunc (L) Len() int { use(); return 0 }\nvar l = L{}\nfunc init() { sort.Sort(l) }\n", "use L.Len init"},
		"what_is_made_is_sorted":           {"type L []int\nfunc (L) Len() int { use(); return 0 }\nfunc init() { sort.Sort(L(nil)) }\n", "use L.Len init"},
		"a_name_in_a_table":                {"var table = map[string]func(int){\"x\": one}\nfunc init() { table[\"x\"](1) }\n", "one use init"},
		"a_name_in_a_list":                 {"var list = []func(a int){one}\nfunc init() { for _, f := range list { f(1) } }\n", "one use init"},
		"a_constant_in_a_table":            {"const x = 1\nvar table = map[int]func(int){x: one}\nfunc init() { for _, f := range table { f(1) } }\n", "one use init"},
		"a_name_in_a_field":                {"var t = &T{f: one}\nfunc init() { t.f(1) }\n", "one use init"},
		"a_literal_in_a_field":             {"var t = &T{f: func(a int) { use() }}\nfunc init() { t.f(1) }\n", "use t.f init"},
		"a_field_that_nobody_calls":        {"var t = &T{f: one, h: two}\nfunc init() { t.h(1, 2); f := func(int) {}; f(1) }\n", "two use init"},
		"a_field_that_is_read":             {"func init() { t := &T{f: one}; f := t.f; f(1) }\n", "one use init"},
		"a_field_that_is_set":              {"func init() { t := &T{}; t.f = one; t.f(1) }\n", "one use init"},
		"a_variable_that_is_set":           {"var late func(a int)\nfunc set() { late = one }\nfunc init() { set(); late(1) }\n", "one use set init"},
		"a_variable_that_is_set_only":      {"var late func(a int)\nfunc set() { late = one }\nfunc init() { set(); f := func(int) {}; f(1) }\n", "set init"},
		"a_variable_of_another_file":       {"func init() { hook(1) }\n-- b.go --\npackage a\nvar hook = one\nvar other = two\n", "one use init"},
		"a_variable_of_a_package":          {"-- b.go --\npackage a\nimport \"example.com/m/c\"\nfunc init() { c.Set(); c.Late(1) }\n-- c/c.go --\npackage c\nvar Late func(int)\nfunc Set() { Late = three }\nfunc three(a int) { print() }\n", "init Set three"},
		"what_a_pool_makes":                {"-- b.go --\npackage a\nimport \"sync\"\nvar pool = sync.Pool{New: func() any { use(); return 1 }}\nvar got = pool.Get()\n", "use pool.New"},
		"a_pointer_of_a_variable":          {"type M struct{}\nfunc (M) Do() { use() }\ntype I interface{ Do() }\nfunc run(i I) { i.Do() }\nvar m *M\nfunc init() { run(nil) }\n", "run init"},
		"an_object_with_methods_of_others": {"type E struct{ sort.Interface }\nfunc (E) Do() { use() }\ntype I interface { Do(); Len() int }\nfunc run(i I) { i.Do() }\nfunc init() { run(E{}) }\n", "use E.Do run init"},
		"a_constant_of_another_file":       {"var table = map[int]func(int){x: one}\nfunc init() { for _, f := range table { f(1) } }\n-- b.go --\npackage a\nconst x = 1\n", "one use init"},
		"a_table_with_a_name":              {"type K map[int]func(int)\nconst x = 1\nvar table = K{x: one}\nfunc init() { for _, f := range table { f(1) } }\n", "one use init"},
		"a_field_that_takes_any":           {"type V struct{ v func(...int) }\nfunc many(a ...int) { use() }\nvar t = &V{v: many}\nfunc init() { t.v(1, 2) }\n", "use many init"},
		"a_function_with_a_field_s_name":   {"type C struct{ start func(int) }\nfunc get2() func(int) { return one }\nvar x = get2()\nfunc init() { start(1) }\n-- b.go --\npackage a\nfunc start(a int) { print() }\n", "get2 init start"},
		"when_a_variable_is_made":          {"var keep H\nfunc reg(f H) bool { keep = f; return true }\nvar done = reg(func(a int) { use() })\n", "reg"},
	})
}

// TestMaskSignatures holds that what is called of a type runs functions of that type alone.
func TestMaskSignatures(t *testing.T) {
	t.Parallel()
	const head = "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage a\nimport \"sort\"\nvar keep any\nfunc use() { sort.Ints(nil) }\n" +
		"type S struct{}\nfunc text(a string) { use() }\nfunc number(a int) { use() }\nfunc failing(a int) error { use(); return nil }\nfunc sized(a *S) { use() }\n" +
		"func add(f any) { keep = f }\nfunc init() { add(text); add(number); add(failing); add(sized); run() }\n"
	masktest.Keeps(t, Masker{}, head, map[string][2]string{
		"a_parameter":               {"func call(f func(int)) { f(1) }\nfunc run() { call(nil) }\n", "use number add init call run"},
		"a_result":                  {"func call(f func(int) error) { f(1) }\nfunc run() { call(nil) }\n", "use failing add init call run"},
		"a_type_with_a_name":        {"type H func(a string)\nfunc run() { var h H; h(\"\") }\n", "use text add init run"},
		"a_type_of_a_package":       {"func run() {}\n-- b.go --\npackage a\nimport \"example.com/m/c\"\nfunc init() { var h c.H; h(nil) }\n-- c/c.go --\npackage c\nimport \"example.com/m\"\ntype H func(a.S)\n", "use sized add init run init"},
		"a_type_of_others":          {"func run() { var h sort.H; h(nil) }\n", "use text number failing sized add init run"},
		"a_second_name":             {"type T = S\nfunc run() { var h func(*T); h(nil) }\n", "use text number sized add init run"},
		"a_second_name_of_it":       {"type T = func(*S)\nfunc run() { var h T; h(nil) }\n", "use sized add init run"},
		"a_parameter_of_types":      {"func call[T any](f func(T) error) { f(nil) }\nfunc run() { call(nil) }\n", "use failing add init call run"},
		"that_of_a_receiver":        {"type G[T any] struct{}\nfunc (g *G[T]) call(f func(T)) { f(nil) }\nfunc run() { new(G[int]).call(nil) }\n", "use text number sized add init G.call run"},
		"a_type_that_has_any_type":  {"type H[T any] func(T) error\nfunc run() { var h H[int]; h(1) }\n", "use failing add init run"},
		"a_field":                   {"type F struct{ f func(a string) }\nfunc run() { new(F).f(\"\") }\n", "use text add init run"},
		"fields_of_a_name":          {"type F struct{ f func(a string) }\ntype E struct{ f func(a int) }\nfunc run() { new(F).f(\"\") }\n", "use text number add init run"},
		"a_field_that_is_no_one":    {"type F struct{ f S }\nfunc run() { get().f(1) }\n", "add init run"},
		"a_table":                   {"var table map[string][]func(int) error\nvar done = []func(int) error{}\nfunc run() { table[\"\"][0](1); done[0](1) }\n", "use failing add init run"},
		"a_variable":                {"var late func(int)\nfunc run() { late(1) }\n", "use number add init run"},
		"what_is_asserted":          {"func run() { keep.(func(string))(\"\") }\n", "use text add init run"},
		"a_parameter_s_name":        {"func run() { f := func(b int) error { return nil }; f(1) }\n", "use failing add init run"},
		"a_method_of_a_type":        {"func (s *S) Do(a string) {use()}\nvar table = []func(*S, string){(*S).Do}\nfunc run() { table[0](nil, \"\") }\n", "use add init S.Do run"},
		"a_method_of_an_object":     {"func (s *S) Do(a string) {use()}\nvar s S\nvar table = []func(string){s.Do}\nfunc run() { table[0](\"\") }\n", "use text add init S.Do run"},
		"further_arguments":         {"func many(a string, b ...int) { use() }\nfunc run() { add(many); f := func(string, ...int) {}; f(\"\", 1, 2) }\n", "use add init many run"},
		"a_literal":                 {"func run() { add(func(a byte) { use() }); add(func(a uint16) {}); f := func(uint8) {}; f(1) }\n", "use add init run"},
		"an_interface_without_name": {"func run() { add(func(a any) { use() }); f := func(interface{}) {}; f(1) }\n", "use add init run"},
	})
}

// TestMaskResults holds that a method is that of the type that is written, wherever it is.
func TestMaskResults(t *testing.T) {
	t.Parallel()
	const head = "-- go.mod --\nmodule example.com/m\n-- b.go --\npackage a\nimport \"sort\"\nfunc use() { sort.Ints(nil) }\n" +
		"type A struct{ b B; list []*B; by map[string]B; E }\ntype B struct{}\ntype E struct{}\ntype L []A\ntype F func() B\ntype I interface{ Do() }\n" +
		"func (A) Do() { use() }\nfunc (B) Do() { use() }\nfunc (E) Do2() { use() }\nfunc (A) Next() *B { return nil }\nfunc (A) Do2() { use() }\n" +
		"func NewA() *A { return nil }\nfunc both() (*A, B, error) { return nil, B{}, nil }\nfunc some() []A { return nil }\nfunc giver() func() B { return nil }\n" +
		"func same[T any](t T) T { return t }\nfunc iface() I { return nil }\nvar _, _ = A{}, B{}\n-- a.go --\npackage a\nimport (\"time\"; \"io\"; \"strings\"; \"example.org/x\")\nvar _, _, _, _ = time.Now, io.Copy, strings.Cut, x.X\n"
	masktest.Keeps(t, Masker{}, head, map[string][2]string{
		"a_result":                    {"func init() { NewA().Do() }\n", "init use A.Do NewA"},
		"a_local_of_a_result":         {"func init() { a := NewA(); a.Do() }\n", "init use A.Do NewA"},
		"a_method_s_result":           {"func init() { a := NewA(); a.Next().Do() }\n", "init use B.Do A.Next NewA"},
		"the_second_result":           {"func init() { _, b, err := both(); b.Do(); err.Error() }\n", "init use B.Do both"},
		"the_first_result":            {"func init() { a, _, _ := both(); a.Do() }\n", "init use A.Do both"},
		"a_variable_of_the_package":   {"var a = NewA()\nfunc init() { a.Do() }\n", "init use A.Do NewA"},
		"several_of_the_package":      {"var a, b, _ = both()\nfunc init() { b.Do() }\n", "init use B.Do both"},
		"a_field":                     {"func init() { NewA().b.Do() }\n", "init use B.Do NewA"},
		"an_embedded_field":           {"func init() { NewA().E.Do2() }\n", "init use E.Do2 NewA"},
		"an_element":                  {"func init() { some()[0].Do() }\n", "init use A.Do some"},
		"an_element_of_a_field":       {"func init() { NewA().list[0].Do() }\n", "init use B.Do NewA"},
		"a_value_of_a_map":            {"func init() { for _, b := range NewA().by { b.Do() } }\n", "init use B.Do NewA"},
		"a_type_of_many":              {"func init() { var l L; for _, a := range l { a.Do() } }\n", "init use A.Do"},
		"a_type_of_functions":         {"func init() { var f F; f().Do() }\n", "init use B.Do"},
		"a_function_that_is_given":    {"func init() { giver()().Do() }\n", "init use B.Do giver"},
		"a_channel":                   {"func init() { var c chan B; b := <-c; b.Do() }\n", "init use B.Do"},
		"a_channel_in_a_select":       {"func init() { var c chan B; select { case b := <-c: b.Do() } }\n", "init use B.Do"},
		"a_switch_over_types":         {"func init() { switch v := any(nil).(type) { case *A: v.Do() } }\n", "init use A.Do"},
		"a_case_of_two_types":         {"func init() { switch v := any(nil).(type) { case I, *A: v.Do() } }\n", "init use A.Do B.Do"},
		"an_assertion":                {"func init() { v, ok := any(nil).(*A); v.Do(); ok = ok }\n", "init use A.Do"},
		"further_arguments":           {"func run(all ...B) { all[0].Do() }\nfunc init() { run() }\n", "run init use B.Do"},
		"a_result_with_a_name":        {"func run() (b B) { b.Do(); return }\nfunc init() { run() }\n", "run init use B.Do"},
		"an_interface":                {"func init() { iface().Do() }\n", "init use A.Do B.Do iface"},
		"a_parameter_of_types":        {"func init() { same(1).Do() }\n", "init use A.Do B.Do same"},
		"of_the_standard_library":     {"func init() { time.Now().Do(); strings.NewReader(\"\").Do() }\n", "init"},
		"that_of_the_library_in_ours": {"func now() time.Time { return time.Time{} }\nfunc init() { now().Do() }\n", "now init"},
		"an_error_of_the_library":     {"func init() { _, err := io.Copy(nil, nil); err.Do() }\n", "init use A.Do B.Do"},
		"what_the_library_was_given":  {"func init() { io.MultiReader(nil).Do() }\n", "init use A.Do B.Do"},
		"an_interface_of_the_library": {"func run(w io.Writer) { w.Do() }\nfunc init() { run(nil) }\n", "run init use A.Do B.Do"},
		"what_the_library_may_hold":   {"func init() { time.NewTimer(1).Context().Do() }\n", "init use A.Do B.Do"},
		"of_others":                   {"func init() { x.New().Do() }\n", "init use A.Do B.Do"},
		"of_others_by_ours":           {"func run() x.T { return nil }\nfunc init() { run().Do() }\n", "run init use A.Do B.Do"},
		"a_constant":                  {"const c A = 1\nfunc init() { c.Do() }\n", "init use A.Do"},
		"a_constant_of_another":       {"const (\n\tc A = iota\n\td\n)\nconst e = 1 | d\nfunc init() { e.Do() }\n", "init use A.Do"},
		"a_conversion":                {"func init() { A(1).Do(); (*B)(nil).Do() }\n", "init use A.Do B.Do"},
		"what_the_library_picks":      {"func init() {}\n-- c.go --\npackage a\nimport \"slices\"\nfunc init() { slices.MinFunc(some(), nil).Do() }\n", "init use A.Do B.Do some init"},
		"an_error_of_ours":            {"func fail() error { return nil }\nfunc init() { fail().Do() }\n", "fail init use A.Do B.Do"},
		"a_conversion_to_an_error":    {"func init() { error(A{}).Do() }\n", "init use A.Do B.Do"},
		"the_lesser_of_two":           {"type D int\nfunc (D) Do() { use() }\nvar d D\nfunc init() { min(d, 1).Do() }\n", "D.Do init use A.Do B.Do"},
		"a_variable_with_a_type":      {"func init() { var i I = NewA(); i.Do() }\n", "init use A.Do B.Do NewA"},
		"a_name_that_is_taken":        {"func run[A any](a A) { a.Do() }\nfunc init() { run(1) }\n", "run init use A.Do B.Do"},
	})
}
