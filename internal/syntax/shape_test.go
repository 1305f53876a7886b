package syntax

import "testing"

// TestShape: what two texts of a function must differ in to differ in shape.
func TestShape(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		language      Language
		before, after string // each with one function f
		same          bool
	}{
		"layout":            {Python, "def f(a):\n  return g(a)\n", "def f(\n    a,\n):  # why\n\n      return g(\n          a)\n", true},
		"inner_body":        {Python, "def f():\n  def g(): return 1\n", "def f():\n  @x\n  def g(): return 2\n", true},
		"inner_name":        {Python, "def f():\n  def g(): return 1\n", "def f():\n  def h(): return 1\n", false},
		"inner_place":       {Python, "def f():\n  if x:\n    def g(): return 1\n", "def f():\n  if x: pass\n  def g(): return 1\n", false},
		"blocks":            {Python, "def f():\n  if a:\n    b\n    c\n", "def f():\n  if a:\n    b\n  c\n", false},
		"words_together":    {Python, "def f(): return a, bc\n", "def f(): return ab, c\n", false},
		"name_or_string":    {Python, "def f(): return a\n", "def f(): return 'a'\n", false},
		"blank_in_string":   {Python, "def f(): return 'a '\n", "def f(): return 'a'\n", false},
		"text_of_f_string":  {Python, "def f(): return f'a {b}'\n", "def f(): return f'c {b}'\n", false},
		"tuple_or_value":    {Python, "def f(): return (a,)\n", "def f(): return (a)\n", false},
		"decorator":         {Python, "@a\ndef f(): pass\n", "@b\ndef f(): pass\n", false},
		"quotes":            {Python, "def f(): return 'a', b'', f'{c}', '', '''d'''\n", "def f(): return \"a\", b\"\", f\"{c}\", \"\", \"d\"\n", true},
		"quote_in_a_string": {Python, "def f(): return 'a\"'\n", "def f(): return \"a'\"\n", false},
		"raw_string":        {Python, "def f(): return r'a'\n", "def f(): return 'a'\n", false},
		"parentheses":       {Python, "def f():\n  assert (\n    a\n  ), (b + c) + d\n", "def f():\n  assert a, (\n    b + c + d\n  )\n", true},
		"grouping":          {Python, "def f(): return (a + b) * c\n", "def f(): return a + b * c\n", false},
		"go_grouping":       {Go, "package p\nfunc f() int { return (a + b) * c }\n", "package p\nfunc f() int { return a + b*c }\n", false},
		"go_rune_or_string": {Go, "package p\nfunc f() { g('a') }\n", "package p\nfunc f() { g(\"a\") }\n", false},
		"go_layout":         {Go, "package p\nfunc f(a int) { g(a); h() }\n", "package p\n\n// f is.\nfunc f(\n\ta int,\n) {\n\tg(a)\n\n\th() // why\n}\n", true},
		"go_for_clause":     {Go, "package p\nfunc f() { for g(); ; { } }\n", "package p\nfunc f() { for ; ; g() { } }\n", false},
		"go_comment":        {Go, "package p\nfunc f() { g() }\n", "package p\n// f is.\nfunc f() {\n\t// why\n\tg() /* here */\n}\n", true},
		"go_escape":         {Go, "package p\nfunc f() { g(\"a\\n\") }\n", "package p\nfunc f() { g(\"b\\n\") }\n", false},
		"go_literal_inside": {Go, "package p\nfunc f() { func() { g() }() }\n", "package p\nfunc f() { func() { h() }() }\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shape := func(src string) [16]byte {
				f := mustParse(t, c.language, src)
				at := f.Find("f")
				if len(at) != 1 || f.Decls[at[0]].Shape == [16]byte{} {
					t.Fatalf("%q: found %v", src, at)
				}
				return f.Decls[at[0]].Shape
			}
			if same := shape(c.before) == shape(c.after); same != c.same {
				t.Errorf("same is %t, want %t", same, c.same)
			}
		})
	}
}
