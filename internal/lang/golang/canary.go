package golang

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// canary names what one package's test program runs beside its own tests, for one
// run. Ends is an example: examples come after all tests, parallel ones too, so a
// program that said it came to its end. Test runs the other two by a runner of its
// own and passes if Fails failed and Passes passed: the exit code of the program
// stays that of the package's tests, and is evidence as well.
type canary struct {
	Test   string   `json:"test"`
	Fails  string   `json:"fails"`
	Passes string   `json:"passes"`
	Ends   string   `json:"ends"`
	Known  []string `json:"known"` // the package's own tests at top level
}

// Places of canaries inside the sandbox.
const (
	canaryPath  = sandbox.RunPath + "/canary"
	overlayPath = sandbox.RunPath + "/overlay.json"
)

// copyCanaries stands for -overlay before Go 1.17 (1.16 has it, and finds no test files there): the files come into the run's own
// copy of the tree.
const copyCanaries = `cp -R ` + canaryPath + `/. ` + sandbox.TreePath + ` && exec "$0" "$@"`

// withCanaries adds one test file to each tested package of a run. The file is of the
// external test package: what the project's own package compiles to stays as it is,
// and its tests come after the package's own. secret is what Parse needs.
func withCanaries(run recipe.TestRun, r schemas.Recipe, t lang.Tree, l layout, plan []string) recipe.TestRun {
	all := map[string]canary{}
	replace := map[string]string{}
	overlay := atLeast(r, "1.17")
	var names []string
	for _, pkg := range plan {
		dir, _ := l.dir(pkg)
		s := testSourcesOf(t, l, dir)
		if s.clause == "" {
			continue // no test file is compiled here
		}
		c := newCanary(s.tests)
		all[pkg] = c
		names = append(names, c.Test, c.Ends)
		inTree := path.Join(dir, canaryFile(s.files))
		at := path.Join(canaryPath, inTree)
		if overlay {
			at = fmt.Sprintf("%s/%d_test.go", canaryPath, len(all))
			replace[path.Join(sandbox.TreePath, inTree)] = at
		}
		run.Inputs = append(run.Inputs, sandbox.File{Path: at, Mode: 0o444, Data: []byte(c.source(s.clause))})
	}
	if run.Secret = encode(all); len(all) == 0 {
		return run
	}
	alsoRun(run.Command.Argv, names)
	if !overlay {
		run.Command.Argv = append([]string{"sh", "-c", copyCanaries}, run.Command.Argv...)
		return run
	}
	run.Inputs = append(run.Inputs, sandbox.File{Path: overlayPath, Mode: 0o444, Data: encode(map[string]any{"Replace": replace})})
	at := 1 + slices.Index(run.Command.Argv, "test")
	run.Command.Argv = slices.Insert(run.Command.Argv, at, "-overlay="+overlayPath)
	return run
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("encoding strings: " + err.Error()) // plain strings always encode
	}
	return b
}

// alsoRun lets canaries through a -run pattern. They stand before it: a slash in it
// begins the pattern of subtests.
func alsoRun(argv, names []string) {
	prefix := "^(" + strings.Join(names, "|") + ")$|"
	for i, w := range argv {
		switch flag, pattern, ok := strings.Cut(w, "="); {
		case !slices.Contains([]string{"-run", "--run", "-test.run", "--test.run"}, flag):
		case ok:
			argv[i] = flag + "=" + prefix + pattern
		case i+1 < len(argv):
			argv[i+1] = prefix + argv[i+1]
		}
	}
}

// newCanary makes names that nobody can know before the run.
func newCanary(known []string) canary {
	name := func() string {
		b := make([]byte, 8)
		rand.Read(b) // never fails: crypto/rand ends the program instead
		return "Z" + hex.EncodeToString(b)
	}
	return canary{Test: "Test" + name(), Fails: "Test" + name(), Passes: "Test" + name(), Ends: "Example" + name(), Known: known}
}

// canarySource compiles with every Go since 1.13. Standard output is as the program
// got it: a test that put a pipe in its place must not swallow what the runner says.
// The variable keeps the file from being closed by the garbage collector. Flags that
// choose tests by name are not for the two inner ones, and a failure on purpose must
// not stop fuzz tests by -failfast.
const canarySource = `package %[1]s_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var stdout%[2]s = os.Stdout

func %[2]s(t *testing.T) {
	os.Stdout = stdout%[2]s
	for _, name := range []string{"test.run", "test.skip"} {
		if f := flag.Lookup(name); f != nil {
			defer f.Value.Set(f.Value.String())
			f.Value.Set("")
		}
	}
	flag.Set("test.failfast", "false")
	run := func(name string, f func(*testing.T)) bool {
		any := func(_, _ string) (bool, error) { return true, nil }
		return testing.RunTests(any, []testing.InternalTest{{Name: name, F: f}})
	}
	if run("%[3]s", func(t *testing.T) { t.Error() }) || !run("%[4]s", func(t *testing.T) {}) {
		t.Error()
	}
}

func %[5]s() {
	fmt.Println()
	// Output:
}
`

func (c canary) source(clause string) string {
	return fmt.Sprintf(canarySource, clause, c.Test, c.Fails, c.Passes, c.Ends)
}

// canaryFile is a name that sorts after the test files of its folder: tests run in
// the order of their files.
func canaryFile(files []string) string {
	b := make([]byte, 8)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	name := "zz_" + hex.EncodeToString(b) + "_benchmint_test.go"
	for len(files) > 0 && slices.Max(files) > name {
		name = "\U0010FFFD" + name
	}
	return name
}

// testSources are the compiled Go files of one folder, as far as tests go.
type testSources struct {
	clause string   // the package's name, without _test; "" where no test file is compiled
	tests  []string // names of top-level tests, fuzz tests and examples
	files  []string // base names of test files, compiled or not
}

// testSourcesOf reads a folder. Test files decide what is known: go test -list would
// run the package's own code to say it.
func testSourcesOf(t lang.Tree, l layout, dir string) testSources {
	var s testSources
	var own, ofTests string
	for _, p := range t.Paths() {
		test := strings.HasSuffix(p, "_test.go")
		if dirOf(p) != dir || !strings.HasSuffix(p, ".go") || !test && own != "" {
			continue
		}
		if test {
			s.files = append(s.files, path.Base(p))
		}
		if !l.compiled(t, p) {
			continue
		}
		f := parseGo(t, p, test)
		if f == nil {
			continue
		}
		if !test {
			own = f.Name.Name
			continue
		}
		ofTests = strings.TrimSuffix(f.Name.Name, "_test")
		s.tests = append(s.tests, topTests(f)...)
	}
	if s.clause = ofTests; ofTests != "" && own != "" {
		s.clause = own
	}
	return s
}

const maxLink = 4096 // PATH_MAX

// parseGo is the syntax of a file, as far as it can be read; of one that is not a
// test its package clause alone.
func parseGo(t lang.Tree, p string, whole bool) *ast.File {
	data, err := t.Read(p)
	if target := path.Join(dirOf(p), string(data)); err == nil && len(data) < maxLink && t.Has(target) {
		data, err = t.Read(target) // a symlink reads as its target
	}
	if err != nil {
		return nil
	}
	mode := parser.SkipObjectResolution
	if !whole {
		mode = parser.PackageClauseOnly
	}
	f, _ := parser.ParseFile(token.NewFileSet(), p, data, mode)
	if f == nil || f.Name == nil || f.Name.Name == "_" {
		return nil
	}
	return f
}

func topTests(f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testName.MatchString(fn.Name.Name) && fn.Name.Name != "TestMain" {
			out = append(out, fn.Name.Name)
		}
	}
	return out
}
