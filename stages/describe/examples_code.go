package describe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/syntax"
)

// This file reads the tests of pytest, unittest, Go's testing and testify for examples.go.

var (
	// harmless are decorators that leave alone what a test sees.
	harmless = lazyregexp.New(`^@(?:pytest\.)?mark\.(?:skipif|usefixtures|filterwarnings|parametrize|asyncio|anyio|slow)\b|^@(?:unittest\.)?skip(?:If|Unless)\b`)
	failing  = lazyregexp.New(`^\w\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(`)
	noError  = lazyregexp.New(`^(?:assert|require)\.NoError\(`)
	quiet    = lazyregexp.New(`^\w\.(?:Parallel|Helper|Log|Logf|Cleanup)\(|^defer |^(\w+) := (\w+)$`)
	element  = lazyregexp.New(`(?m)^\s*(\w+) := &?(\w+)\[(\w+)\]$`)
	expected = lazyregexp.New(`(?i)^(?:want|expect|exp)\w*$`)
	setUp    = lazyregexp.New(`(?i)^setup(?:_?(?:method|class|function|module))?$`)
	helper   = lazyregexp.New(`^(?:assert|check|verify|expect|require)[A-Z_]\w*\(`)
)

// testBody is the block of a test, with the cases that it is run for; none where something around it
// may change what it sees.
func testBody(root syntax.Node, id string) (body syntax.Node, rows []row) {
	body = root
	for part := range strings.SplitSeq(id, "::") {
		in := below(body)
		body = syntax.Node{}
		for _, n := range in {
			f := n
			if d := n.Child("definition"); d.Is() {
				f = d
			}
			name := f.Child("name").Text()
			if setUp.MatchString(name) || strings.Contains(n.First("decorator").Text(), "autouse") {
				return syntax.Node{}, nil
			}
			if name != part || !f.Is("function_definition", "class_definition", "function_declaration") {
				continue
			}
			body = f.Child("body")
			for d := range n.Children() {
				if table := arguments(d.First("call")); d.Is("decorator") && (!harmless.MatchString(d.Text()) || rows != nil) {
					return syntax.Node{}, nil
				} else if strings.Contains(d.Text(), "parametrize(") && d.Is("decorator") && len(table) > 1 {
					rows = pythonRows(words(table[0]), table[1])
				}
			}
		}
	}
	return body, rows
}

// words are the names in a pattern, or in a text that lists them.
func words(n syntax.Node) []string { return wordShape.FindAllString(n.Text(), -1) }

func below(n syntax.Node) (out []syntax.Node) {
	for c := range n.Children() {
		if c.Named() && !c.Is("comment") {
			out = append(out, c)
		}
	}
	return out
}

// arguments are those of a call without keywords.
func arguments(call syntax.Node) []syntax.Node {
	return slices.DeleteFunc(below(call.Child("arguments")), func(n syntax.Node) bool { return n.Is("keyword_argument") })
}

// pythonRows are the cases of a list, of whose items the names stand for the parts.
func pythonRows(names []string, list syntax.Node) (out []row) {
	if !list.Is("list", "tuple") {
		return nil
	}
	for _, item := range below(list) {
		parts := []syntax.Node{item}
		if item.Is("call") && strings.HasSuffix(item.Child("function").Text(), "param") {
			parts = arguments(item)
		} else if len(names) > 1 && item.Is("tuple", "list") {
			parts = below(item)
		}
		if len(parts) != len(names) || strings.Contains(item.Text(), "marks=") {
			continue
		}
		in := row{map[string]syntax.Node{}, names, item}
		for i, p := range parts {
			in.values[names[i]] = p
		}
		out = append(out, in)
	}
	return out
}

// goRows are the cases of a table over which a loop goes, by the fields of its struct.
func goRows(over, table syntax.Node) (out []row) {
	left := words(over.Child("left"))
	for _, m := range element.FindAllStringSubmatch(over.Parent().Child("body").Text(), -1) {
		if len(left) == 1 && m[2] == over.Child("right").Text() && m[3] == left[0] {
			left = append(left, m[1]) // for i := range cases { tc := cases[i]
		}
	}
	if len(left) != 2 || !table.Is("composite_literal") {
		return nil
	}
	var fields []string
	for n := range table.Child("type").Within() {
		if n.Is("field_identifier") {
			fields = append(fields, n.Text())
		}
	}
	for _, item := range below(table.Child("body")) {
		in, name := row{values: map[string]syntax.Node{}, node: item}, left[1]
		if parts := below(item); item.Is("keyed_element") && len(parts) == 2 {
			in.values[left[0]], item = parts[0].First(), parts[1]
		}
		item = item.First()
		if item.Is("unary_expression") { // &T{…}
			item = item.First("composite_literal").Child("body")
		}
		in.fill(name, item, fields)
		out = append(out, in)
	}
	return out
}

// fill gives a row its item, or the fields of it.
func (r *row) fill(name string, item syntax.Node, fields []string) {
	if !item.Is("literal_value") {
		r.values[name] = item
		return
	}
	for i, part := range below(item) {
		field, v := "", part.First()
		if parts := below(part); part.Is("keyed_element") && len(parts) == 2 {
			field, v = parts[0].Text(), parts[1].First()
		} else if i < len(fields) {
			field = fields[i]
		}
		if r.names = append(r.names, name+"."+field); !v.Is("literal_value") {
			r.values[name+"."+field] = v
		}
	}
}

// enter is a block within a statement that runs once for each row, or once; left are the statements
// before it without the table.
func enter(st syntax.Node, before []step) (body syntax.Node, rows []row, left []step, ok bool) {
	args, over := arguments(st.First()), st.First("range_clause")
	table := cmp.Or(over, st).Child("right")
	for i, b := range before {
		if slices.Equal(b.binds, []string{table.Text()}) && table.Is("identifier") {
			table, before = b.value, slices.Delete(slices.Clone(before), i, i+1)
			break
		}
	}
	switch {
	case over.Is():
		rows = goRows(over, table)
		return st.Child("body"), rows, before, rows != nil
	case st.Is("for_statement"):
		rows = pythonRows(words(st.Child("left")), table)
		return st.Child("body"), rows, before, rows != nil
	case len(args) == 2 && args[1].Is("func_literal") && strings.HasSuffix(st.First().Child("function").Text(), ".Run"):
		return args[1].Child("body"), nil, before, true
	}
	return st.Child("body"), nil, before, strings.HasPrefix(st.First("with_clause").Text(), "self.subTest(")
}

func stepOf(n syntax.Node) step {
	args := arguments(n.First())
	switch call := n.First(); {
	case n.Is("expression_statement") && call.Is("assignment"):
		n = call
	case noError.MatchString(n.Text()) && len(args) > 1: // what it is given is done
		return step{node: args[1], does: true}
	}
	st := step{node: n, does: n.Is("expression_statement", "assignment", "assignment_statement", "inc_statement", "dec_statement", "delete_statement")}
	st.block = !st.does && !n.Is("short_var_declaration", "var_declaration", "import_statement", "import_from_statement")
	same := quiet.FindStringSubmatch(n.Text())
	st.asks = n.First().Is("string") || same != nil && same[1] == same[2] || n.Is("short_var_declaration") && element.MatchString(n.Text()) // or tc := tc
	left, right := n.Child("left"), n.Child("right")
	if spec := n.First("var_spec"); spec.Is() {
		left, right = spec.Child("name"), spec.Child("value")
	} else if n.Is("assignment_statement") && operator(left, right) != "=" {
		return st
	}
	names := below(left)
	if left.Is("identifier") {
		names = []syntax.Node{left}
	}
	for _, name := range names {
		if !left.Is("identifier", "expression_list", "pattern_list", "tuple_pattern") || !name.Is("identifier") {
			st.binds = nil
			return st
		}
		st.binds = append(st.binds, name.Text())
	}
	if values := below(right); right.Is("expression_list") && len(values) == 1 {
		st.value = values[0]
	} else if left.Is("identifier") {
		st.value = right
	}
	st.does = st.does && len(st.binds) == 0
	return st
}

// free reports whether a node is a name that has to be known; key is what a row may have a value for.
func free(n syntax.Node) bool {
	up := n.Parent()
	switch {
	case !n.Is("identifier", "type_identifier", "package_identifier") || n.Text() == "_" || n.Field() == "attribute" || up.Is("keyword_argument") && n.Field() == "name":
		return false
	case up.Is("literal_element") && up.Parent().Is("keyed_element") && !up.Before().Is(): // a field of T{…}
		return up.Above("composite_literal").Child("type").Is("map_type")
	}
	for ; up.Is(); up = up.Parent() { // bound by what stands around it
		if slices.Contains(words(up.First("for_in_clause").Child("left")), n.Text()) || up.Is("func_literal") && slices.Contains(words(up.Child("parameters")), n.Text()) {
			return false
		}
	}
	return true
}

func key(n syntax.Node) string {
	if n.Is("selector_expression") && n.Child("operand").Is("identifier") || free(n) {
		return n.Text()
	}
	return ""
}

// oneLine writes a string of several lines as one of one line.
func oneLine(text string) (string, bool) {
	m := opened.FindStringSubmatch(text)
	switch {
	case strings.HasPrefix(text, "`"):
		return strconv.Quote(strings.Trim(text, "`")), true
	case !strings.Contains(text, "\n"):
		return text, true
	case m == nil || m[1] != "" || strings.Contains(text, `\"`):
		return text, false
	}
	inside := strings.ReplaceAll(text[len(m[0]):len(text)-len(m[2])], "\\\n", "")
	return `"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(inside) + `"`, true
}

// operator is the source between two parts.
func operator(a, b syntax.Node) string {
	return strings.Join(strings.Fields(string(a.Tree().Source[a.End():b.Start()])), " ")
}

// claimsOf are what an assertion claims, with what it does first; nil is no assertion.
func claimsOf(st syntax.Node) (claims []claim, before []step) {
	call := st.First()
	switch {
	case st.Is("assert_statement"):
		return holds(call), nil
	case st.Is("with_statement"):
		return raises(st), nil
	case st.Is("if_statement"):
		body := below(st.Child("consequence"))
		if len(body) == 0 || !failing.MatchString(body[0].Text()) || st.Child("alternative").Is() {
			return nil, nil
		}
		if init := st.Child("initializer"); init.Is() {
			before = []step{stepOf(init)}
		}
		return append(fails(st.Child("condition")), claim{}), before
	case !call.Is("call", "call_expression"):
		return nil, nil
	case helper.MatchString(st.Text()):
		return []claim{{got: call, says: "%g passes"}}, nil
	case failing.MatchString(st.Text()):
		return []claim{{}}, nil
	}
	object, name, _ := strings.Cut(call.Child("function").Text(), ".")
	if noError.MatchString(st.Text()) {
		return nil, nil
	}
	args := arguments(call)
	if object == "self" {
		var is bool
		if name, is = strings.CutPrefix(name, "assert"); !is {
			return nil, nil
		}
	} else if object != "assert" && object != "require" || len(args) < 2 {
		return nil, nil
	} else if args = args[1:]; name == "Equal" || name == "Equalf" {
		args[0], args[1] = args[1], args[0] // the wanted value is the first
	}
	switch says := methods[strings.TrimSuffix(name, "f")]; {
	case says == "" || len(args) == 0 || strings.Contains(says, "%w") && len(args) < 2:
		return []claim{{}}, nil
	case name == "In":
		return []claim{{args[1], args[0], says}}, nil
	case strings.HasPrefix(name, "Equal") && name != "EqualError":
		return equal(args[0], args[1]), nil
	case strings.Contains(says, "%w"):
		return []claim{{args[0], args[1], says}}, nil
	default:
		return []claim{{got: args[0], says: says}}, nil
	}
}

var methods = map[string]string{
	"True": "%g is true", "False": "%g is false", "IsNone": "%g is `None`", "IsNotNone": "%g is not `None`", "Nil": "%g is nil", "NotNil": "%g is not nil", "Empty": "%g is empty",
	"Error": "%g gives an error", "Equal": "%g gives %w", "In": "%g contains %w", "Contains": "%g contains %w", "Len": "%g has length %w", "EqualError": "%g gives the error %w", "ErrorContains": "%g gives an error with %w",
}

func holds(e syntax.Node) []claim {
	if e.Is("parenthesized_expression") {
		return holds(e.First())
	}
	if parts := below(e); e.Is("comparison_operator") && len(parts) == 2 && operator(parts[0], parts[1]) == "==" {
		return equal(parts[0], parts[1])
	}
	return []claim{{got: e, says: "%g is true"}}
}

// equal says that the side that asks for something gives the other.
func equal(a, b syntax.Node) []claim {
	if plain := len(namesIn(a, row{})) == 0 || expected.MatchString(a.Text()); plain && len(namesIn(b, row{})) > 0 {
		a, b = b, a
	}
	return []claim{{a, b, "%g gives %w"}}
}

var (
	raising  = lazyregexp.New(`^(?:pytest\.|self\.assert)?[rR]aises(?:Regex)?\(`)
	matching = lazyregexp.New(`match=r?["']\^?([^"'\\*+?\[\]|()$%]+)\$?["']\s*,?\s*\)`)
)

// raises reads "with pytest.raises(E, match=…):" and the like of unittest.
func raises(with syntax.Node) []claim {
	items, body := below(with.First("with_clause")), below(with.Child("body"))
	call := with.First("with_clause").First("with_item").Child("value")
	if call.Is("as_pattern") {
		call = call.First()
	}
	args := arguments(call)
	switch {
	case len(items) != 1 || !raising.MatchString(call.Text()) || len(args) == 0:
		return nil
	case len(body) != 1 || !body[0].Is("expression_statement"):
		return []claim{{}}
	}
	says := "%g raises %w"
	if m := matching.FindStringSubmatch(call.Text()); m != nil {
		says += ", whose message has " + quotation(m[1])
	}
	return []claim{{body[0], args[0], says}}
}

// fails are the claims of a Go test that fails where a condition holds.
func fails(c syntax.Node) []claim {
	args, a, b := arguments(c.First()), c.Child("left"), c.Child("right")
	isErr := b.Is("nil") && strings.HasSuffix(strings.ToLower(a.Text()), "err")
	switch f := c.First().Child("function").Text(); {
	case c.Is("parenthesized_expression"):
		return fails(c.First())
	case c.Is("unary_expression") && len(args) == 2 && slices.Contains([]string{"reflect.DeepEqual", "bytes.Equal", "slices.Equal", "cmp.Equal"}, f):
		return equal(args[0], args[1])
	case c.Is("unary_expression") && strings.HasPrefix(c.Text(), "!"):
		return []claim{{got: below(c)[0], says: "%g is true"}}
	case !c.Is("binary_expression"):
		return []claim{{got: c, says: "%g is false"}}
	}
	switch op := operator(a, b); {
	case op == "||":
		return append(fails(a), fails(b)...)
	case op == "==" && isErr:
		return []claim{{got: a, says: "%g gives an error"}}
	case op == "!=" && !isErr: // that there is no error is no news
		return equal(a, b)
	case op == "==":
		return []claim{{a, b, "%g is not %w"}}
	}
	return nil
}
