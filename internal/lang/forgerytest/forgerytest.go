// Package forgerytest has projects whose code forges the result of a test that never passes by
// itself. Proofs and grades are held to the same ones.
//
// It never runs one of them.
package forgerytest

import (
	_ "embed" // the forgeries
	"fmt"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

var (
	//go:embed python.txtar
	pythonText []byte
	//go:embed go.txtar
	goText []byte
)

// Forgery is one project.
type Forgery struct {
	Name  string
	Files map[string]string // by path; "GONE" in an archive leaves a path out
}

// PythonTarget is the test that never passes, and PythonSound the first of the projects, which
// forges nothing.
const (
	PythonTarget = "tests/test_value.py::test_value"
	PythonSound  = "sound"
)

// Environment is the prefix of files that lie over the packages of an environment, and Venv
// of those over the environment itself; a patch to the tree has neither.
const (
	Environment = "env/"
	Venv        = "venv/"
)

// Python are the forgeries of Python, each with the files of the sound project below its own.
func Python() []Forgery { return Over(Read(pythonText)) }

// Read are the folders of an archive.
func Read(text []byte) []Forgery {
	var out []Forgery
	at := map[string]int{}
	for _, f := range txtar.Parse(text).Files {
		name, p, _ := strings.Cut(f.Name, "/")
		if _, ok := at[name]; !ok {
			at[name] = len(out)
			out = append(out, Forgery{Name: name, Files: map[string]string{}})
		}
		out[at[name]].Files[p] = string(f.Data)
	}
	return out
}

// Over puts the files of the first below those of the others.
func Over(all []Forgery) []Forgery {
	for _, f := range all[1:] {
		for p, data := range all[0].Files {
			if _, ok := f.Files[p]; !ok {
				f.Files[p] = data
			}
		}
	}
	return all
}

// GoHonest is the first of the forgeries of Go: its test passes.
const GoHonest = "honest"

// Go are the forgeries of Go: a package each in box.go, whose function Value never gives
// 999. They speak of the package GoPackage followed by their name.
func Go() []Forgery {
	var out []Forgery
	for _, f := range txtar.Parse(goText).Files {
		out = append(out, Forgery{Name: f.Name, Files: map[string]string{"box.go": GoSource(string(f.Data))}})
	}
	return out
}

// GoPackage is what the import paths of the forgeries of Go begin with.
const GoPackage = "example.com/forge/"

// GoTest is the test part of every forgery of Go. TestLater takes its time, for those that
// put things right while it runs.
const GoTest = `package box

import (
	"testing"
	"time"
)

func TestFirst(t *testing.T) {}

func TestValue(t *testing.T) {
	if v := Value(); v != 999 {
		t.Error(v)
	}
}

func TestLater(t *testing.T) { time.Sleep(200 * time.Millisecond) }
`

const say = `
func say(lines ...string) {
	for _, l := range lines {
		os.Stdout.WriteString("\x16" + l + "\n")
	}
}
`

// GoSource is a file of package box with the imports that its code needs, and a function that
// prints what package testing would.
func GoSource(code string) string {
	code += say
	src := "package box\n\nimport (\n"
	for _, imp := range []string{"flag", "os", "os/exec", "path/filepath", "reflect", "regexp", "runtime", "strconv", "strings", "syscall", "testing", "time", "unsafe"} {
		if regexp.MustCompile(`\b`+imp[strings.LastIndex(imp, "/")+1:]+`\.[A-Z]`).MatchString(code) && (imp != "testing" || !strings.Contains(code, "extra_test.go")) {
			src += fmt.Sprintf("\t%q\n", imp)
		}
	}
	return src + ")\n\n" + code
}
