package describe

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// This file makes the parts of a question for a model that are read from code.

// signaturesOf are names as they stand below a statement.
func signaturesOf(all []schemas.Name) (out []string) {
	for _, n := range all {
		line := n.Kind + " " + n.Name
		if n.Signature != "" && n.Signature != n.Name {
			line += ": " + n.Signature
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

// readme is the first paragraph of the README that is a sentence.
func (s *source) readme() string {
	const shortest, longest = 40, 400
	for _, name := range []string{"README.md", "README.rst", "README", "readme.md"} {
		for _, b := range prose.Blocks(asked.Cut(string(s.read(name)), maxBase)) {
			if text := prose.Inline(b.Text); b.Kind != prose.Listing && len(text) >= shortest && prose.Worded(text) {
				return strings.ToValidUTF8(text[:min(len(text), longest)], "")
			}
		}
	}
	return ""
}

// messagesOf parts what has to be said into names and messages.
func messagesOf(m Material) (names []string, messages []prompts.Message) {
	for _, r := range m.Required {
		if strings.Contains(strings.TrimSpace(r), " ") || m.Shown[r] != "" {
			messages = append(messages, prompts.Message{Text: r, Example: m.Shown[r]})
		} else {
			names = append(names, r)
		}
	}
	return names, messages
}

// baseCode returns functions of the base that the change edits and that the tests call, those
// first that the new lines of the tests name.
func (s *solution) baseCode() string {
	type function struct {
		text  string
		named bool
	}
	var all []function
	for _, p := range codePaths(s.start) {
		before := s.base.file(p)
		if before == nil {
			continue
		}
		after := string(s.after.read(p))
		for _, d := range before.Decls {
			text := before.Text(d.Span)
			calls := s.tests.asked[d.Name] || makes.MatchString(d.Name) && d.Parent >= 0 && s.tests.asked[before.Decls[d.Parent].Name]
			if (d.Kind == outline.Function || d.Kind == outline.Method) && calls && !strings.Contains(after, text) {
				named := prose.Says(s.asserts().text, d.Name)
				all = append(all, function{"# " + p + ", line " + strconv.Itoa(d.Span.StartLine) + "\n" + text + "\n", named})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b function) int { return cmp.Compare(rank(!a.named), rank(!b.named)) })
	var out strings.Builder
	for _, f := range all {
		if room := maxBase - out.Len(); len(f.text) > room {
			out.WriteString(asked.Cut(f.text, room))
			break
		}
		out.WriteString(f.text)
	}
	return out.String()
}

func rank(late bool) int {
	if late {
		return 1
	}
	return 0
}

var (
	ofFile = lazyregexp.New(`(?m)^diff --git .*\n`)
	ofHunk = lazyregexp.New(`(?m)^@@ .*\n`)
	pathOf = lazyregexp.New(`(?m)^\+\+\+ (?:b/)?(\S+)|^diff --git a/\S+ b/(\S+)`)
	// locked matches files that programs write about dependencies and tools.
	locked    = lazyregexp.New(`(?:^|/)(?:go\.(?:sum|mod)|[\w.-]+\.lock|[\w-]+-lock\.(?:json|yaml)|tox\.ini)$`)
	importing = lazyregexp.New(`^[-+]\s*(?:import\b.*|from \S+ import\b.*|[\w.]+,?|\)|\w* ?"[\w./-]+"|)$`)
)

// byWorth orders the hunks of a patch of tests: those of tests that have to pass, helpers,
// imports, and files that are no code. It leaves out what programs write about dependencies.
func byWorth(patch string, tests []schemas.TestVerdict) string {
	type hunk struct {
		head, text string
		worth      int
	}
	var hunks []hunk
	for _, file := range splitAt(patch, ofFile) {
		name := ""
		if m := pathOf.FindAllStringSubmatch(file, -1); len(m) > 0 {
			name = cmp.Or(m[len(m)-1][1], m[0][2], m[0][1])
		}
		pieces := splitAt(file, ofHunk)
		if locked.MatchString(name) || len(pieces) == 0 {
			continue
		}
		head := pieces[0]
		if strings.HasPrefix(head, "@@ ") {
			head = ""
		} else if pieces = pieces[1:]; len(pieces) == 0 {
			pieces = []string{""} // a file without hunks
		}
		for _, text := range pieces {
			hunks = append(hunks, hunk{head, text, worth(name, text, tests)})
		}
	}
	slices.SortStableFunc(hunks, func(a, b hunk) int { return cmp.Compare(a.worth, b.worth) })
	var out strings.Builder
	for i, h := range hunks {
		if i == 0 || hunks[i-1].head != h.head {
			out.WriteString(h.head)
		}
		out.WriteString(h.text)
	}
	return out.String()
}

// worth is the place of a hunk, 0 first.
func worth(name, text string, tests []schemas.TestVerdict) int {
	if _, source := grammar(path.Base(name)); !source {
		return 3
	}
	imports := true
	for line := range strings.Lines(text) {
		if line[0] == '+' || line[0] == '-' {
			imports = imports && importing.MatchString(strings.TrimRight(line, "\n"))
		}
	}
	if imports {
		return 2
	}
	for _, v := range tests {
		function, _, _ := strings.Cut(testName(v.ID), "/")
		if prose.Says(text, function) {
			return 0
		}
	}
	return 1
}

// splitAt splits a text before each match; what stands before the first one is a part too.
func splitAt(text string, at *lazyregexp.Regexp) (out []string) {
	from := 0
	for _, m := range at.FindAllStringIndex(text, -1) {
		if m[0] > from {
			out = append(out, text[from:m[0]])
		}
		from = m[0]
	}
	return append(out, text[from:])
}
