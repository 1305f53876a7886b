package seal

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Kinds of a hit.
const (
	KindSolution = "solution_line"
	KindTest     = "test_line"
	KindHistory  = "history" // the landed commit, or more history than one neutral commit
	KindLater    = "later_release"
	KindCopy     = "second_copy"
)

// Task is what must not be found, and what may be.
type Task struct {
	Base             *tree.Tree
	Solution         *tree.Tree
	Patch, TestPatch []byte
	Name             string // owner/name
	// Commit is the landed commit, and Version the nearest release at base (a tag);
	// both may be "". Without a version every other release counts as a later one.
	Commit  string
	Version string
	// Bodies are those that a mask took out of a library; nil for a task of another kind.
	Bodies *Bodies
}

// form is how a needle is written.
type form int

const (
	formLine form = iota // an added line, trimmed
	formAtom             // a literal or a name that the change defines: what compilers keep
	formHash             // of the landed commit
	formFile             // a whole file, by digest; it has no text
)

type needle struct {
	text   string
	kind   string
	form   form
	file   string // the changed file that it comes from
	strong bool
}

// Set is the needles of one task.
type Set struct {
	needles []needle
	counts  map[string]int      // changed file + form → how many
	files   map[string]needle   // blob ID of a changed file → the file as a needle
	sizes   map[int64]bool      // of these files
	twins   map[string]compiled // package/module → what its compiled form would hold
	project project
	bodies  *Bodies    // nil where no mask took any out
	base    *tree.Tree // where copies of them would be
}

const (
	minLine     = 16
	strongLine  = 40
	minAtomName = 10
	minLiteral  = 16
	perFile     = 400 // lines of one changed file; a copy of it shows by far fewer
	minFile     = 64
)

// Needles picks what tells the solution and its tests from everything else: the
// added lines of code that are long enough, say something, and stand nowhere in
// the base; and of these the literals and names that survive a compiler.
func Needles(t Task) *Set {
	s := &Set{counts: map[string]int{}, files: map[string]needle{}, twins: map[string]compiled{}, sizes: map[int64]bool{}, project: projectOf(t), bodies: t.Bodies, base: t.Base}
	var found []needle
	for _, p := range []struct {
		patch []byte
		kind  string
	}{{t.Patch, KindSolution}, {t.TestPatch, KindTest}} {
		// A patch that does not parse has no lines here; applying it is what fails.
		files, _, _ := gitdiff.Parse(bytes.NewReader(p.patch))
		for _, f := range files {
			if source(f.NewName) {
				found = append(found, fromFile(f, p.kind)...)
				s.addTwin(t.Base, f, p.kind)
			}
			s.addFile(t, f.NewName, p.kind)
		}
	}
	if len(t.Commit) == 40 {
		found = append(found, needle{text: t.Commit, kind: KindHistory, form: formHash, strong: true},
			// Abbreviated as pseudo-versions of Go have it.
			needle{text: t.Commit[:12], kind: KindHistory, form: formHash, strong: true})
	}
	s.needles = notIn(t.Base, unique(found))
	own := map[string]bool{}
	for _, n := range s.needles {
		s.counts[n.group()]++
		own[n.text] = own[n.text] || n.form == formAtom
	}
	for i := range s.needles {
		n := &s.needles[i]
		n.strong = n.strong || n.form == formLine && strong(n.text, own)
	}
	return s
}

// group is what the rule counts together: one form of one changed file.
func (n needle) group() string { return string(rune('0'+n.form)) + n.file }

// Count and Digest are what a row says of the needles.
func (s *Set) Count() int { return len(s.needles) + len(s.files) }

// Digest names the set.
func (s *Set) Digest() schemas.Digest {
	var all []string
	for _, n := range s.needles {
		all = append(all, n.kind+" "+n.text)
	}
	for id := range s.files {
		all = append(all, "file "+id)
	}
	slices.Sort(all)
	return schemas.DigestOf(all)
}

// addFile remembers a changed file as a whole: binaries have no lines, and small
// changes none that tell. Texts that are no code are alike everywhere.
func (s *Set) addFile(t Task, name, kind string) {
	e, ok := t.Solution.Entry(name)
	binary := ok && bytes.Contains(e.Data[:min(len(e.Data), 8000)], []byte{0})
	if !ok || len(e.Data) < minFile || !binary && !source(name) {
		return
	}
	if old, ok := t.Base.Entry(name); ok && bytes.Equal(old.Data, e.Data) {
		return
	}
	s.sizes[int64(len(e.Data))] = true
	s.files[tree.BlobID(e.Data)] = needle{text: name, kind: kind, form: formFile, file: name}
}

var sourceExt = map[string]bool{
	".py": true, ".pyx": true, ".pxd": true, ".pyi": true, ".go": true, ".s": true, ".c": true, ".h": true, ".cc": true, ".cpp": true, ".hpp": true,
	".rs": true, ".js": true, ".mjs": true, ".cjs": true, ".jsx": true, ".ts": true, ".tsx": true, ".java": true, ".kt": true, ".rb": true, ".php": true,
	".cs": true, ".swift": true, ".scala": true, ".sh": true, ".proto": true, ".sql": true, ".html": true, ".css": true, ".tmpl": true, ".j2": true,
}

// source: leak checks use code and tests only (design 6.3). Licences, workflows
// and manifests are alike everywhere, and what was copied from elsewhere is there
// with every right.
func source(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case "vendor", "_vendor", "third_party", "node_modules", ".github":
			return false
		}
	}
	return sourceExt[strings.ToLower(path.Ext(name))]
}

var (
	word        = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_]{2,}`)
	importLine  = lazyregexp.New(`^(import\b|from\s+\S+\s+import\b|package\s|use\s|#include|\}?\s*from\s+['"]|(\w+\s+)?"[\w.~-]+(/[\w.~-]+)+"$|func init\(\))`)
	definition  = lazyregexp.New(`^(?:async\s+)?(?:def|class|func|type|fn|struct|interface|function)\s+([A-Za-z_]\w*)|^([A-Za-z_]\w*)\s*(?::[^=]+)?(?:=|:=)\s*[^=]`)
	literal     = lazyregexp.New("\"((?:[^\"\\\\]|\\\\.)*)\"|'((?:[^'\\\\]|\\\\.)*)'|`([^`]*)`")
	breaks      = lazyregexp.New(`\\.|%[-+# 0-9.*]*[a-zA-Z]|\{[^}]*\}`)
	compound    = lazyregexp.New(`[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]`)
	frameworkID = lazyregexp.New(`^(__\w+__|pytest_\w+|setUp\w*|tearDown\w*|setup_(method|function|module|class)|teardown_\w+)$`)
)

// fromFile gives the candidates of one changed file.
func fromFile(f *gitdiff.File, kind string) []needle {
	var out []needle
	var lines []string
	for _, frag := range f.TextFragments {
		for _, l := range frag.Lines {
			if l.Op != gitdiff.OpAdd {
				continue
			}
			line := strings.TrimSpace(l.Line)
			lines = append(lines, line)
			if name := defined(line); name != "" {
				out = append(out, needle{text: name, kind: kind, form: formAtom, file: f.NewName})
			}
			out = append(out, literals(line, kind, f.NewName)...)
		}
	}
	n := 0
	for _, line := range lines {
		if !telling(line) || n == perFile {
			continue
		}
		n++
		out = append(out, needle{text: line, kind: kind, form: formLine, file: f.NewName})
	}
	return out
}

// telling: at least two words and twelve letters, and no import.
func telling(line string) bool {
	if len(line) < minLine || importLine.MatchString(line) {
		return false
	}
	words, letters := word.FindAllString(line, -1), 0
	for _, w := range words {
		letters += len(w)
	}
	return len(words) >= 2 && letters >= 12
}

// strong lines are leaks alone: long, and with a compound name that the change
// defines and that stands nowhere in the base.
func strong(line string, own map[string]bool) bool {
	if len(line) < strongLine {
		return false
	}
	words := word.FindAllString(line, -1)
	return len(words) >= 4 && slices.ContainsFunc(words, func(w string) bool { return own[w] })
}

// defined is the compound name that a line defines, "" for others: short and
// plain names are everybody's, methods of Go are often an interface's, and names
// that a framework calls are the framework's.
func defined(line string) string {
	m := definition.FindStringSubmatch(line)
	// An argument passed by keyword on a line of its own ("python_requires=…,") defines nothing.
	if m == nil || m[2] != "" && strings.HasSuffix(line, ",") {
		return ""
	}
	name := m[1] + m[2]
	if len(name) < minAtomName || !compound.MatchString(name) || frameworkID.MatchString(name) {
		return ""
	}
	return name
}

// literals are the constant pieces of a line's string literals.
func literals(line, kind, file string) []needle {
	var out []needle
	for _, m := range literal.FindAllStringSubmatch(line, -1) {
		for _, piece := range breaks.Split(m[1]+m[2]+m[3], -1) {
			piece = strings.TrimSpace(piece)
			if len(piece) >= minLiteral && len(word.FindAllString(piece, -1)) >= 3 {
				out = append(out, needle{text: piece, kind: kind, form: formAtom, file: file})
			}
		}
	}
	return out
}

// unique cuts long needles and drops what is there twice; a line wins over an
// atom of the same text.
func unique(in []needle) []needle {
	seen := map[string]int{}
	var out []needle
	for _, n := range in {
		n.text = n.text[:min(len(n.text), maxNeedle)]
		if i, ok := seen[n.text]; ok {
			if n.form == formLine && out[i].form == formAtom {
				out[i] = n
			}
			continue
		}
		seen[n.text] = len(out)
		out = append(out, n)
	}
	return out
}

// notIn drops what the solver may see: all that stands in the base tree.
func notIn(base *tree.Tree, in []needle) []needle {
	m := matcherOf(in)
	known := make([]bool, len(in))
	for _, e := range base.Entries() {
		m.in(e.Data, func(i int) { known[i] = true })
		m.in([]byte(e.Path), func(i int) { known[i] = true })
	}
	var out []needle
	for i, n := range in {
		if !known[i] {
			out = append(out, n)
		}
	}
	return out
}

func matcherOf(needles []needle) *matcher {
	texts := make([][]byte, len(needles))
	for i, n := range needles {
		texts[i] = []byte(n.text)
	}
	return newMatcher(texts)
}
