package describe

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/syntax"
)

// This file makes sentences of what FAIL_TO_PASS tests assert: "`f(1)` gives `2`". A sentence repeats
// the test's own code, with the values of a table put in, and every statement before it. What a loop, a
// branch or a new helper decides is not said: a wrong example is worse than none.

const (
	maxPerTest  = 3
	maxExamples = 6
	maxSpan     = 300 // bytes of one piece of code
	maxExample  = 480 // bytes of one sentence
	maxRow      = 720 // of one that tells a case of a table
	maxAllBytes = 900
)

// step is a statement before an assertion: it gives names a value, does something, asserts, or is a block.
type step struct {
	node, value       syntax.Node
	binds             []string
	does, asks, block bool
}

// row is what names stand for in one case of a table.
type row struct {
	values map[string]syntax.Node
	names  []string
	node   syntax.Node
}

// claim is one assertion; says has %g and %w for the code of got and want.
type claim struct {
	got, want syntax.Node
	says      string
}

type example struct {
	text, callee string
	late         bool // another one says more of the change
}

// testReader reads one test. own are names that a reader of the base cannot know.
type testReader struct {
	test     string
	failing  []string
	own, old map[string]bool
	was      string // the file before the change
	out      []example
}

// examples are sentences for the tests that have to pass: one of each, the short ones first, then more.
func (s *solution) examples() (out []string) {
	var tests []string
	for _, id := range s.failing {
		file, name, _ := strings.Cut(id, "::")
		tests = append(tests, file+"::"+name[:len(name)-len(caseOf(name))])
	}
	var rounds [maxPerTest][]string
	for _, id := range slices.Compact(slices.Sorted(slices.Values(tests))) {
		all, said := s.examplesOf(id), map[string]bool{}
		for i := range min(maxPerTest, len(all)) {
			worth := func(e example) int { return 2*rank(said[e.callee]) + rank(e.late) }
			slices.SortStableFunc(all, func(a, b example) int { return cmp.Compare(worth(a), worth(b)) })
			said[all[0].callee] = true
			rounds[i], all = append(rounds[i], all[0].text), all[1:]
		}
	}
	size := 0
	for _, round := range rounds {
		slices.SortStableFunc(round, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
		for _, text := range round {
			if len(out) < maxExamples && size+len(text) <= maxAllBytes && !slices.Contains(out, text) {
				size += len(text)
				out = append(out, text)
			}
		}
	}
	return out
}

// caseOf is the end of a test's name that says which case it is.
func caseOf(name string) string {
	if i := strings.IndexAny(name, "[/"); i >= 0 {
		return name[i:]
	}
	return ""
}

// stateExamples joins sentences to a paragraph.
func stateExamples(all []string) string {
	out := ""
	for _, one := range all {
		out += " " + strings.ToUpper(one[:1]) + one[1:] + "."
	}
	if out != "" {
		out = "For example, " + all[0] + out[1+len(all[0]):]
	}
	return out
}

// examplesOf reads one test.
func (s *solution) examplesOf(id string) []example {
	file, name, _ := strings.Cut(id, "::")
	for _, p := range s.start.TestPaths() {
		l, source := grammar(p)
		dir := path.Dir(p)
		if !source || p != file && (l != syntax.Go || dir != "." && !strings.HasSuffix(file, "/"+dir)) {
			continue
		}
		tree, err := syntax.ParseTree(l, s.after.read(p))
		if err != nil || tree.Broken() {
			continue
		}
		r := &testReader{test: testName(id), failing: s.failing, own: s.ownNames(p), old: map[string]bool{}, was: string(s.base.read(p))}
		for line := range strings.Lines(r.was) {
			r.old[strings.TrimSpace(line)] = true
		}
		if body, rows := testBody(tree.Root(), name); body.Is() {
			r.cases(body, nil, row{}, rows)
			return r.out
		}
	}
	return nil
}

// testModule are modules that the tests import of themselves.
var testModule = lazyregexp.New(`^\.|(?:^|\.)(?:tests?|testing|conftest|test_\w+|helpers?)(?:\.|$)`)

// ownNames are what a test file and its neighbours declare, but for what the base has too.
func (s *solution) ownNames(p string) map[string]bool {
	own, kept := map[string]bool{"self": true}, strings.Fields("monkeypatch tmp_path capsys caplog t") // those of pytest and of Go
	for _, other := range s.after.paths {
		base := path.Base(other)
		conf := base == "conftest.py" && (path.Dir(other) == "." || strings.HasPrefix(p, path.Dir(other)+"/"))
		f := s.after.file(other)
		if f == nil || other != p && !conf && (path.Dir(other) != path.Dir(p) || !strings.HasSuffix(base, "_test.go")) {
			continue
		}
		was := string(s.base.read(other))
		for _, d := range f.Decls {
			if d.Parent < 0 && strings.Contains(was, f.Text(d.Span)) {
				kept = append(kept, d.Name)
			} else if d.Parent < 0 || other == p {
				own[d.Name] = true
			}
		}
		for _, i := range f.Imports {
			name := cmp.Or(i.As, i.Name)
			own[name] = own[name] || f.Language == syntax.Python && testModule.MatchString(i.Module)
		}
	}
	for _, name := range kept {
		delete(own, name)
	}
	return own
}

// cases reads a block for each case of a table. What its assertions do not let it say of any case, it
// tells by the values of the new ones.
func (r *testReader) cases(body syntax.Node, before []step, outer row, rows []row) {
	said := len(r.out)
	for i, in := range append(rows, row{})[:max(1, len(rows))] {
		values := map[string]syntax.Node{}
		for _, from := range []row{outer, in} {
			for name, v := range from.values {
				values[name] = v
			}
		}
		in = row{values, in.names, cmp.Or(in.node, outer.node)}
		if r.block(body, before, in); i < len(rows) && (len(r.out) == said || strings.HasPrefix(r.out[said].text, "in a case")) {
			r.sayRow(in)
		}
	}
}

// label is a field of a table that only names its case.
var label = lazyregexp.New(`(?i)^(?:name|title|desc|description|id)$`)

func (r *testReader) sayRow(in row) {
	var cells []string
	for _, name := range in.names {
		v, field := in.values[name], name[strings.LastIndexByte(name, '.')+1:]
		text, ok := r.code(v, row{})
		if !ok || !v.Is() || r.lacks(v, row{}, nil) {
			return
		}
		if !label.MatchString(field) {
			cells = append(cells, "`"+field+"` is `"+text+"`")
		}
	}
	if says := "in a case of `" + r.test + "`, " + series(cells); len(cells) > 1 && len(says) <= maxRow && r.fresh(in.node) {
		r.out = append(r.out, example{says, says, !r.fails(in)})
	}
}

// fails reports whether a case has a text that stands in the name of a test that has to pass.
func (r *testReader) fails(in row) bool {
	return slices.ContainsFunc(r.failing, func(id string) bool {
		_, name, _ := strings.Cut(id, "::")
		for _, v := range in.values {
			text := literalOf(v.Text(), "").value
			if text != "" && (strings.Contains(caseOf(name), text) || strings.Contains(caseOf(name), strings.ReplaceAll(text, " ", "_"))) {
				return true
			}
		}
		return false
	})
}

func (r *testReader) block(body syntax.Node, before []step, in row) {
	for _, statement := range below(body) {
		st := stepOf(statement)
		if claims, first := claimsOf(statement); claims != nil {
			st.asks = true
			if before = append(slices.Clip(before), first...); statement.Is("if_statement") {
				st.node = statement.Child("condition")
			}
			for _, c := range claims {
				r.say(statement, c, before, in)
			}
		} else if inside, rows, left, ok := enter(statement, before); ok {
			r.cases(inside, left, in, rows)
			if len(before) == 0 {
				continue // nothing that another one could see
			}
			st.block = true
		}
		before = append(slices.Clip(before), st)
	}
}

var (
	firstCall = lazyregexp.New(`[\w.]+\(`)
	keywordIn = lazyregexp.New(`\b\w+=`)
	lonely    = lazyregexp.New(`^(?:[\d.]+|"[^"]*"|'[^']*'|\w+)$`) // code that asks the program for nothing
	// reads are the names of calls that leave alone what they are given.
	reads = lazyregexp.New(`(?i)^_*(?:get|is|has|as|to|len|str|repr|size|count|keys$|values$|items$|dict|sorted|list|tuple|set$|type|last|all|any|header|lookup|contains|equal|deepequal|sprint|unwrap|error$|true|false|nil|empty|not|assert)`)
)

// disturbs reports whether an assertion may change one of the objects.
func disturbs(n syntax.Node, objects map[string]bool) bool {
	for c := range n.Within() {
		callee := words(c.Child("function"))
		if c.Is("call", "call_expression") && len(callee) > 0 && !reads.MatchString(callee[len(callee)-1]) &&
			slices.ContainsFunc(namesIn(c, row{}), func(name string) bool { return objects[name] || strings.HasPrefix(name, "self.") }) {
			return true
		}
	}
	return false
}

// acts reports whether a statement calls what may do more than give a value: old := kit.SetLanguage("fr").
func acts(n syntax.Node) bool {
	for c := range n.Within() {
		callee := words(c.Child("function"))
		if !c.Is("call", "call_expression") || len(callee) == 0 {
			continue
		}
		last := callee[len(callee)-1]
		makes := strings.HasPrefix(last, "New") || last == "make" || c.Is("call") && last[0] >= 'A' && last[0] <= 'Z'
		if !makes && !reads.MatchString(last) {
			return true
		}
	}
	return false
}

// needed are the statements before a claim but for those that only give names that are not used; ok
// is false where a block, or an assertion that acts, may change what the claim is about.
func needed(at syntax.Node, c claim, before []step, in row) (steps []step, ok bool) {
	objects := map[string]bool{}
	for _, name := range words(at.Above("function_definition").Child("parameters")) {
		objects[name] = true
	}
	for _, st := range before {
		effect := disturbs(st.node, objects)
		if st.block && !st.asks || st.asks && effect {
			return nil, false
		}
		for _, name := range st.binds {
			// Separator = "_" sets a name that is no variable of the test.
			st.does = st.does || st.node.Is("assignment_statement") && !objects[name] || acts(st.node)
			objects[name] = true
		}
		if st.does = st.does || effect; !st.asks {
			steps = append(steps, st)
		}
	}
	wanted := append(namesIn(c.got, in), namesIn(c.want, in)...)
	for i, st := range slices.Backward(steps) {
		again := func(name string) bool { return slices.Contains(st.binds, name) }
		switch {
		case !st.does && !slices.ContainsFunc(wanted, again):
			steps = slices.Delete(steps, i, i+1)
		case st.value.Is():
			wanted = append(slices.DeleteFunc(wanted, again), namesIn(st.value, in)...)
		default:
			wanted = append(wanted, namesIn(st.node, in)...)
		}
	}
	return steps, c.got.Is()
}

// sayable reports whether a reader knows all names of a claim and of the statements before it, and
// the change wrote one of them.
func (r *testReader) sayable(at syntax.Node, c claim, steps []step, in row) bool {
	fresh, bound := r.fresh(at, in.node), map[string]bool{}
	for _, st := range steps {
		if r.lacks(st.node, in, bound) {
			return false
		}
		for _, name := range st.binds {
			bound[name] = true
		}
		fresh = fresh || r.fresh(st.node)
	}
	return fresh && !r.lacks(c.got, in, bound) && !r.lacks(c.want, in, bound)
}

// say writes one sentence, where everything in it can be said.
func (r *testReader) say(at syntax.Node, c claim, before []step, in row) {
	steps, ok := needed(at, c, before, in)
	if !ok || !r.sayable(at, c, steps, in) {
		return
	}
	steps, with := r.putIn(c, steps, in)
	got, ok := r.code(c.got, with)
	want, good := r.code(c.want, with)
	after, lead := []string{}, "with "
	for _, st := range steps {
		text, sayable := r.code(st.node, in)
		if ok = ok && sayable; len(st.binds) == 0 {
			lead = "after "
		}
		after = append(after, "`"+text+"`")
	}
	says := strings.NewReplacer("%g", "`"+got+"`", "%w", "`"+want+"`").Replace(c.says)
	if len(after) > 0 {
		says = lead + series(after) + ", " + says
	}
	if ok && good && len(says) <= maxExample && got != want && (len(after) > 0 || !lonely.MatchString(got)) {
		callee := firstCall.FindString(says) + strings.Join(keywordIn.FindAllString(says, -1), ",")
		r.out = append(r.out, example{says, callee, in.node.Is() && !r.fails(in)})
	}
}

// putIn puts what the last statements give in the place of their names, each used once.
func (r *testReader) putIn(c claim, steps []step, in row) ([]step, row) {
	for n := len(steps) - 1; n >= 0; n-- {
		st := steps[n]
		i := slices.Index(st.binds, c.got.Text())
		again := slices.ContainsFunc(steps[:n], func(o step) bool {
			return slices.ContainsFunc(st.binds, func(name string) bool { return slices.Contains(namesIn(o.node, in), name) })
		})
		whole := i == 0 || i > 0 && i == len(st.binds)-1 && strings.HasSuffix(c.says, "an error")
		uses := append(namesIn(c.got, in), namesIn(c.want, in)...)
		uses = slices.DeleteFunc(uses, func(n string) bool { return !slices.Contains(st.binds, n) })
		if again || !st.value.Is() || len(uses) != 1 || !whole && len(st.binds) > 1 || slices.Contains(namesIn(st.value, in), uses[0]) {
			break
		}
		with := in.without("")
		with.values[uses[0]] = st.value
		if text, ok := r.code(c.got, with); !ok || !whole && len(text) > maxSpan/2 {
			break
		}
		steps, in = steps[:n], with
	}
	return steps, in
}

// lacks reports whether code needs a name that a reader cannot know.
func (r *testReader) lacks(n syntax.Node, in row, bound map[string]bool) bool {
	given := stepOf(n).binds
	return slices.ContainsFunc(namesIn(n, in), func(name string) bool {
		if strings.HasPrefix(name, "self.") {
			return !prose.Says(r.was, name)
		}
		return r.own[name] && !bound[name] && !slices.Contains(given, name)
	})
}

// namesIn are the names that code needs, without those that others stand for.
func namesIn(n syntax.Node, in row) (out []string) {
	for at := range n.Walk(func(at syntax.Node) bool { return !in.values[key(at)].Is() }) {
		if v := in.values[key(at)]; v.Is() {
			out = append(out, namesIn(v, in.without(key(at)))...)
		} else if free(at) && at.Text() == "self" {
			out = append(out, at.Parent().Text()) // self.name
		} else if free(at) {
			out = append(out, at.Text())
		}
	}
	return out
}

// without is a row in which a name does not stand for anything.
func (r row) without(name string) row {
	out := row{map[string]syntax.Node{}, r.names, r.node}
	for other, v := range r.values {
		if other != name {
			out.values[other] = v
		}
	}
	return out
}

// fresh reports whether the change wrote a line of any of these.
func (r *testReader) fresh(nodes ...syntax.Node) bool {
	return slices.ContainsFunc(nodes, func(n syntax.Node) bool {
		if !n.Is() {
			return false
		}
		source := n.Tree().Source
		rest, _, _ := bytes.Cut(source[n.End():], []byte("\n"))
		lines := string(source[bytes.LastIndexByte(source[:n.Start()], '\n')+1 : n.End()+len(rest)])
		return slices.ContainsFunc(strings.Split(lines, "\n"), func(line string) bool { return !r.old[strings.TrimSpace(line)] })
	})
}

func series(all []string) string {
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}

var (
	gapOpen  = lazyregexp.New(`([(\[{.])\s*\n\s*`)
	gapClose = lazyregexp.New(`,?\s*\n\s*([)\]}])`)
	gap      = lazyregexp.New(`\s*\n\s*|  +`)
	compound = lazyregexp.New(`operator|^lambda|conditional|await|nary_expression$`)
)

// code writes a node on one line, with the values of a table put in.
func (r *testReader) code(n syntax.Node, in row) (string, bool) {
	ok := true
	var write func(n syntax.Node, in row) string
	write = func(n syntax.Node, in row) string {
		if v := in.values[key(n)]; v.Is() {
			text := write(v, in.without(key(n)))
			if compound.MatchString(v.Kind()) && !n.Parent().Is("argument_list") {
				text = "(" + text + ")"
			}
			return text
		}
		if v := in.values[key(n.First())]; n.Is("list_splat") && v.Is("list", "tuple") { // f(*row) takes the values one by one
			text := write(v, in.without(key(n.First())))
			return strings.Trim(text[1:len(text)-1], ", ")
		}
		if strings.Contains(n.Kind(), "string") && n.Kind() != "concatenated_string" {
			text, good := oneLine(n.Text())
			ok = ok && good && !slices.ContainsFunc(namesIn(n, row{}), func(name string) bool { return in.values[name].Is() })
			return text
		}
		lines := n.Is("block") && len(below(n)) > 1
		ok = ok && !(lines && n.Tree().Language == syntax.Python)
		var b strings.Builder
		between := func(from, to int) {
			text := gapClose.ReplaceAllString(gapOpen.ReplaceAllString(string(n.Tree().Source[from:to]), "$1"), "$1")
			b.WriteString(gap.ReplaceAllString(text, map[bool]string{true: "; ", false: " "}[lines]))
		}
		at := n.Start()
		for c := range n.Children() {
			if between(at, c.Start()); !c.Is("comment") {
				b.WriteString(write(c, in))
			}
			at = c.End()
		}
		between(at, n.End())
		return b.String()
	}
	if !n.Is() {
		return "", true
	}
	for in.values[key(n)].Is() {
		n, in = in.values[key(n)], in.without(key(n))
	}
	text := write(n, in)
	return text, ok && len(text) <= maxSpan && !strings.ContainsAny(text, "`\n")
}
