// Package masktest holds what the masks of all languages are tested with: golden
// files that are readable side by side, fuzzing, and a walk over real code.
//
// It never applies the closure over calls: that is the engine's, and tested there.
package masktest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

var (
	update = flag.Bool("update", false, "write golden files anew")
	corpus = flag.String("corpus", "", "a folder of real code for TestCorpus, in the language of the package")
)

// Updating reports whether golden files are to be written anew: a package has one flag
// of that name, and those with goldens of their own ask here.
func Updating() bool { return *update }

// Masked is one file after strict's table and nothing else: no closure over calls.
type Masked struct {
	File   *mask.File
	Text   []byte
	Masked []bool // by function
}

// Strict masks one file by the table of strict alone.
func Strict(l mask.Language, path string, source []byte) (Masked, error) {
	tree, err := mask.Parse(l, path, source)
	if err != nil {
		return Masked{}, err
	}
	m := Masked{File: l.Read(path, tree)}
	m.Masked = make([]bool, len(m.File.Functions))
	var edits []mask.Edit
	for i, f := range m.File.Functions {
		policy, ok := mask.PolicyOf(f.Construct)
		if !ok {
			return m, fmt.Errorf("%s: no line in the table for construct %q", f.Name, f.Construct)
		}
		if !policy.Mask || f.Broken || inMasked(m, f.Parent) {
			continue
		}
		m.Masked[i] = true
		edits = append(edits, mask.Edit{Range: f.Body, Text: f.Strict})
	}
	if m.File.Repair != nil {
		edits = append(edits, m.File.Repair(func(i int) bool {
			for n := len(m.File.Functions); i >= n; {
				i = m.File.Literals[i-n].Parent
			}
			return inMasked(m, i)
		})...)
	}
	m.Text, err = mask.Apply(source, edits)
	return m, err
}

// inMasked reports whether the function or one around it is masked.
func inMasked(m Masked, i int) bool {
	for ; i >= 0; i = m.File.Functions[i].Parent {
		if m.Masked[i] {
			return true
		}
	}
	return false
}

// Golden holds every testdata/mask/*.txtar: for each file in/NAME of it, out/NAME is
// the masked text and facts/NAME what the language says of the file.
func Golden(t *testing.T, l mask.Language) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join("testdata", "mask", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no testdata/mask/*.txtar (%v)", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fresh := &txtar.Archive{Comment: a.Comment}
			for _, f := range a.Files {
				name, ok := strings.CutPrefix(f.Name, "in/")
				if !ok {
					continue
				}
				m, err := Strict(l, name, f.Data)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				parses(t, l, name, f.Data, m)
				same(t, f.Data, m)
				fresh.Files = append(fresh.Files, f,
					txtar.File{Name: "out/" + name, Data: m.Text},
					txtar.File{Name: "facts/" + name, Data: []byte(Facts(m))})
			}
			text := txtar.Format(fresh)
			if *update {
				if err := os.WriteFile(path, text, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(a)), string(text)); diff != "" {
				t.Errorf("-want +got (-update writes it anew):\n%s", diff)
			}
		})
	}
}

// Facts is what a language says of a file, for people.
func Facts(m Masked) string {
	var b strings.Builder
	fmt.Fprintf(&b, "modules %s\n", strings.Join(m.File.Modules, " "))
	for i, f := range m.File.Functions {
		what := "kept"
		switch {
		case m.Masked[i]:
			what = "masked"
		case inMasked(m, i):
			what = "gone"
		}
		fmt.Fprintf(&b, "%d %s %s %s", f.Line, what, f.Construct, f.Name)
		for _, flag := range []struct {
			on   bool
			name string
		}{{f.Public, "public"}, {f.Doc, "doc"}, {f.Broken, "broken"}} {
			if flag.on {
				b.WriteString(" " + flag.name)
			}
		}
		fmt.Fprintf(&b, " lines=%d branches=%d calls=%d depth=%d", f.Shape.Lines, f.Shape.Branches, f.Shape.Calls, f.Shape.Depth)
		fmt.Fprintf(&b, "%s\n", refs(" runs", f.Runs))
	}
	for _, c := range m.File.Classes {
		fmt.Fprintf(&b, "class %s\n", c.Name)
	}
	for _, i := range m.File.Imports {
		fmt.Fprintf(&b, "import %s %s as %s\n", i.Module, i.Name, i.Local)
	}
	if len(m.File.Loads) > 0 {
		fmt.Fprintf(&b, "loads%s\n", refs("", m.File.Loads))
	}
	for _, line := range m.File.Faults {
		fmt.Fprintf(&b, "fault at line %d\n", line)
	}
	return b.String()
}

func refs(label string, all []mask.Ref) string {
	if len(all) == 0 {
		return ""
	}
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = word(r)
	}
	return label + " " + strings.Join(words, ",")
}

func word(r mask.Ref) string {
	w := strings.Join(r.Path, ".") + "()"
	if r.Class >= 0 {
		w += fmt.Sprintf("@%d", r.Class)
	}
	return w
}

// Keeps holds which functions are kept: each case is a tree, a txtar that begins with head,
// and their names.
func Keeps(t *testing.T, l mask.Language, head string, cases map[string][2]string) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c[1], Kept(t, l, head+c[0])); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Kept masks a tree, a txtar, and gives the names of the functions that are kept, in
// order.
func Kept(t *testing.T, l mask.Language, tree string) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	for _, f := range txtar.Parse([]byte(tree)).Files {
		at := filepath.Join(src, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result, err := mask.Run(t.Context(), mask.Options{Source: src, Output: filepath.Join(dir, "out"), Languages: []mask.Language{l}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := mask.ReadManifest(result.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, f := range m.Files {
		if f.Failed != "" {
			t.Fatalf("%s: %s", f.Path, f.Failed)
		}
		for _, d := range f.Functions {
			if d.Done == mask.Kept {
				kept = append(kept, d.Name)
			}
		}
	}
	return strings.Join(kept, " ")
}

// Nested is what stands within itself so often that nobody wrote it.
func Nested(open, inside, end string) string {
	return strings.Repeat(open, 500) + inside + strings.Repeat(end, 500)
}

// Deep holds that such text costs no more than its length: what is further in counts as
// code of what is around it, and is told apart no more.
func Deep(t *testing.T, l mask.Language, file string, sources map[string]string) {
	t.Helper()
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := mask.Parse(l, file, []byte(source))
			if err != nil {
				t.Fatal(err)
			}
			f := l.Read(file, tree)
			told := max(len(f.Functions), len(f.Classes))
			for _, one := range f.Functions {
				told = max(told, len(one.Runs))
				for _, ref := range one.Runs {
					told = max(told, len(ref.Path))
				}
			}
			if told == 0 || told > 150 {
				t.Errorf("%d of 500 are told apart", told)
			}
		})
	}
}

// parses: what is masked has no syntax error that was not there before.
func parses(t testing.TB, l mask.Language, name string, source []byte, m Masked) {
	t.Helper()
	before, err := syntax.ParseTree(l.Grammar(name), source)
	if err != nil {
		t.Fatal(err)
	}
	after, err := syntax.ParseTree(l.Grammar(name), m.Text)
	if errors.Is(err, syntax.ErrHeredoc) {
		return // a mask leaves the file out, and says so
	}
	if err != nil {
		t.Fatal(err)
	}
	if after.Broken() && !before.Broken() {
		t.Errorf("%s: the masked text does not parse:\n%s", name, m.Text)
	}
}

// same: outside of what was masked, every byte is there, in order. Repairs may put
// something in or take something out of what is left; they are seen in golden files.
func same(t testing.TB, source []byte, m Masked) {
	t.Helper()
	if m.File.Repair != nil {
		return
	}
	rest, at := m.Text, 0
	for i, f := range m.File.Functions {
		if !m.Masked[i] {
			continue
		}
		kept := source[at:f.Body.Start]
		if !bytes.HasPrefix(rest, kept) {
			t.Fatalf("bytes %d to %d are not as they were", at, f.Body.Start)
		}
		text := []byte(f.Strict)
		if mask.LineEnd(source) == "\r\n" {
			text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		}
		if rest = rest[len(kept):]; !bytes.HasPrefix(rest, text) {
			t.Fatalf("%s: its body is not what it should be", f.Name)
		}
		rest, at = rest[len(text):], f.Body.End
	}
	if !bytes.Equal(rest, source[at:]) {
		t.Fatalf("the end from byte %d is not as it was", at)
	}
}

// Fuzz masks whatever comes: never a panic, never a broken file of a sound one, never
// a byte changed outside. The seeds are the golden files.
func Fuzz(f *testing.F, l mask.Language, name string) {
	archives, _ := filepath.Glob(filepath.Join("testdata", "mask", "*.txtar"))
	for _, path := range archives {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if strings.HasPrefix(file.Name, "in/") {
				f.Add(file.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		m, err := Strict(l, name, source)
		if errors.Is(err, syntax.ErrHeredoc) {
			return // it stays whole
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, source, m)
		parses(t, l, name, source, m)
	})
}

// Corpus masks real code: -corpus FOLDER names it. It counts, and fails where a file
// that parses does not parse afterwards.
func Corpus(t *testing.T, l mask.Language) {
	t.Helper()
	if *corpus == "" {
		t.Skip("-corpus FOLDER names real code to be masked; none is kept here")
	}
	files, functions, masked, broken := 0, 0, 0, 0
	kept := map[mask.Construct]int{}
	err := filepath.WalkDir(*corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(*corpus, path)
		if err != nil || l.Grammar(filepath.ToSlash(name)) == "" {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil || l.Exempt(filepath.ToSlash(name), source).Kind != "" {
			return err
		}
		m, err := Strict(l, filepath.ToSlash(name), source)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		files++
		functions += len(m.File.Functions)
		if len(m.File.Faults) > 0 {
			broken++
		}
		for i, f := range m.File.Functions {
			if m.Masked[i] {
				masked++
			} else if !inMasked(m, i) {
				kept[f.Construct]++
			}
		}
		same(t, source, m)
		parses(t, l, filepath.ToSlash(name), source, m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files (%d with syntax errors outside functions), %d functions, %d masked, kept %v", files, broken, functions, masked, kept)
}
