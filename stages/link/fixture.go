package link

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// mostData bounds for how many new files of one change the sources are read; more are a
// collection that no test names one by one.
const mostData = 50

// testData gives the test part the files outside of its folders that the change adds for it: a file
// that a test file names and that no other source file names, by itself, by its folder or by a
// pattern. Without it no solver could pass. This goes by the text of the sources, which is reasoning
// and the last resort: before the environment is built nobody can see who opens a file. Where it
// says nothing, validate sees a test that misses the file, and lists no such test.
func (w *work) testData() {
	seen := 0
	for i := range w.files {
		f := &w.files[i]
		if f.Status != "A" || f.Part != schemas.PartCode && f.Part != schemas.PartDocs || f.NewMode == tree.ModeSymlink || parts.IsManifest(f.Path) {
			continue
		}
		if _, source := w.rules.Source(f.Path); source && f.Part == schemas.PartCode {
			continue
		}
		if w.replacesFile(f.Path) { // what was there is not of the tests
			continue
		}
		if seen++; seen > mostData {
			return
		}
		if w.onlyTestsName(f.Path) {
			f.Part, f.Rule = schemas.PartTest, "named only by tests"
		}
	}
}

// replacesFile reports whether a folder of a path was a file or a link before.
func (w *work) replacesFile(p string) bool {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if w.base.Has(d) {
			return true
		}
	}
	return false
}

func (w *work) onlyTestsName(file string) bool {
	n := namesOf(file)
	byTest := false
	for _, p := range w.solution.Paths() {
		if _, source := w.rules.Source(p); !source || p == file {
			continue
		}
		data, err := w.solution.Read(p)
		if err != nil {
			continue
		}
		whole, folder, pattern := n.whole.in(data), n.folder.in(data) || n.embedded.in(data), n.pattern.in(data)
		if !whole && !folder && !pattern {
			continue
		}
		if part, _ := w.rules.Part(p, w.solution); part == schemas.PartCode {
			return false
		} else if part == schemas.PartTest {
			byTest = byTest || whole || folder && n.stem.in(data)
		}
	}
	return byTest
}

// form is one way to name a file in a source: an expression, and a text that it always holds.
type form struct {
	text string
	expr *regexp.Regexp
}

func (f form) in(data []byte) bool {
	return f.text != "" && bytes.Contains(data, []byte(f.text)) && f.expr.Match(data)
}

// names are the ways to name a file: its whole name, its stem or its folder in a string, a
// pattern that it matches, its folder behind Go's embed.
type names struct{ whole, stem, folder, pattern, embedded form }

func namesOf(file string) names {
	base, dir, ext := path.Base(file), path.Base(path.Dir(file)), path.Ext(file)
	if dir == "." {
		dir = ""
	}
	quoted := func(word string) form {
		const in, part = "[\"'`]", "[^\"'`\\n]*"
		return form{word, regexp.MustCompile(in + "(?:" + part + `[/\\])?` + regexp.QuoteMeta(word) + `(?:[/\\]` + part + ")?" + in)}
	}
	return names{
		whole:    form{base, regexp.MustCompile(`(?:^|[^\w.-])` + regexp.QuoteMeta(base) + `(?:$|[^\w-])`)},
		stem:     quoted(strings.TrimSuffix(base, ext)),
		folder:   quoted(dir),
		pattern:  form{"*" + ext, regexp.MustCompile("[\"'`/ ]\\*+" + regexp.QuoteMeta(ext) + "[\"'`\\s]")},
		embedded: form{dir, regexp.MustCompile(`//go:embed .*\b` + regexp.QuoteMeta(dir) + `\b`)},
	}
}
