package golang

import (
	"bufio"
	"bytes"
	_ "embed" // the script
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed reach.sh
var reachScript []byte

const (
	reachPath = sandbox.RunPath + "/reach.sh"
	reachList = sandbox.RunPath + "/reach.list"
	reachOut  = "/tmp/.benchmint-reach"
)

// mostReached is how many top-level tests are measured: each is a process of its own.
const mostReached = 500

var _ lang.Reacher = Language{}

// Reach builds each test program once with coverage of the packages that files are in, and runs
// each top-level test alone: so long as the programs take to start, for each test of a program that
// has such a package in it. A subtest goes where its top-level test goes.
func (Language) Reach(r schemas.Recipe, t lang.Tree, tests []lang.Test, files []string) ([]recipe.TestRun, bool) {
	l := layoutOf(t)
	type program struct{ dir, pkg string }
	names := map[string]map[program][]string{} // by the module's folder
	count := 0
	for _, test := range tests {
		pkg, name, ok := strings.Cut(test.ID, idSeparator)
		dir, known := l.dir(pkg)
		i, of := l.index(dir)
		if !ok || !known || !of {
			continue
		}
		name, _, _ = strings.Cut(name, "/")
		m := l.modules[i]
		if names[m.Dir] == nil {
			names[m.Dir] = map[program][]string{}
		}
		p := program{strings.TrimPrefix(strings.TrimPrefix(dir, m.Dir), "/"), pkg}
		if !slices.Contains(names[m.Dir][p], name) && !strings.ContainsAny(name+dir, "\t\n") {
			names[m.Dir][p] = append(names[m.Dir][p], name)
			count++
		}
		if count > mostReached {
			return nil, false
		}
	}
	var runs []recipe.TestRun
	for i, c := range r.Test {
		var lines []string
		for p, tests := range names[c.Dir] {
			for _, name := range tests {
				lines = append(lines, p.dir+"\t"+p.pkg+"\t"+name)
			}
		}
		covered := covering(l, t, c.Dir, files)
		if len(lines) == 0 || covered == "" {
			continue
		}
		slices.Sort(lines)
		out := reachOut + "." + strconv.Itoa(i)
		env := map[string]string{"GOMAXPROCS": gomaxprocs}
		for k, v := range c.Env {
			env[k] = v
		}
		runs = append(runs, recipe.TestRun{
			Command: schemas.Command{Argv: append([]string{"sh", reachPath, reachList, out, covered}, buildWords(c.Argv)...), Dir: c.Dir, Env: env},
			Inputs: []sandbox.File{
				{Path: reachPath, Mode: 0o444, Data: reachScript}, {Path: reachList, Mode: 0o444, Data: []byte(strings.Join(lines, "\n") + "\n")},
			},
			Report: out,
		})
	}
	return runs, len(runs) > 0
}

// covering are the packages of a module that hold files, as -coverpkg takes them; "" for none.
func covering(l layout, t lang.Tree, module string, files []string) string {
	i, ok := l.index(module)
	if files == nil || !ok {
		return "./..."
	}
	packages := slices.DeleteFunc(l.packages(t, l.modules[i]), func(p string) bool {
		dir, _ := l.dir(p)
		return !slices.ContainsFunc(files, func(f string) bool { return dirOf(f) == dir })
	})
	return strings.Join(patterns(l.modules[i], packages), ",")
}

// buildWords are the words of a test command that decide what is built.
func buildWords(argv []string) []string {
	var out []string
	for i, w := range argv {
		flag, _, whole := strings.Cut(strings.TrimPrefix(w, "-"), "=")
		if flag = strings.TrimPrefix(flag, "-"); !strings.HasPrefix(w, "-") || flag != "tags" && flag != "mod" && flag != "gcflags" && flag != "ldflags" {
			continue
		}
		if out = append(out, w); !whole && i+1 < len(argv) {
			out = append(out, argv[i+1])
		}
	}
	return out
}

// Reached reads "=PACKAGE::TEST" lines, each followed by the covered blocks of its profile.
func (Language) Reached(_ schemas.Recipe, out []lang.Output) map[string][]lang.Place {
	reached := map[string][]lang.Place{}
	for _, o := range out {
		l := layoutOf(o.Tree)
		id := ""
		for scan := bufio.NewScanner(bytes.NewReader(o.Report)); scan.Scan(); {
			line := scan.Text()
			if name, ok := strings.CutPrefix(line, "="); ok {
				id = name
				reached[id] = []lang.Place{}
				continue
			}
			b, ok := blockOf(line)
			dir, own := l.dir(path.Dir(b.file))
			if id == "" || !ok || !b.ran || !own {
				continue
			}
			reached[id] = append(reached[id], lang.Place{Path: path.Join(dir, path.Base(b.file)), Line: b.from})
		}
	}
	return reached
}
