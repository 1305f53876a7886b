package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/workflow"
	"github.com/benchmint/benchmint/schemas"
)

// Flags of the CI's go test that a run keeps, and those that it leaves:
//
//	kept  -tags, GOFLAGS=-tags   they decide which files there are
//	      -short                 it decides what a test does
//	      -gcflags, -ldflags     tests that replace functions, or ask for values that are set, need
//	                             them; not those that ask for another linker
//	left  -race                  needs cgo and takes ten times as long; what it finds is no outcome of a test
//	      -timeout               of the CI's machines; runs have their own
//	      -run, -skip            parts of the suite for one job each; the proof needs the whole
//	      -bench, -fuzz, -fuzztime, -benchmem, -benchtime   no tests
//	      -p, -parallel, -cpu, -count, -shuffle, -failfast, -vet   the runner table has its own
//	      -v, -json, -cover…, -o, -exec, profiles           what is written, and where
//	      -mod, -modfile, packages                          of the recipe: its modules, all packages
//
// What follows -args, or is not a flag of go test, is for some package's own program.
var kept = map[string]bool{"tags": true, "short": true, "gcflags": true, "ldflags": true}

// single are the flags of go test that take no value of their own word.
var single = []string{"short", "race", "v", "json", "cover", "failfast", "benchmem", "a", "n", "x", "i", "c", "msan", "asan", "work", "trimpath", "modcacherw", "fullpath", "artifacts"}

// variant is one way in which the CI calls go test.
type variant struct {
	words  []string // flags that are kept
	source string
}

func (v variant) tags() []string { return tagsOf(v.words) }

// tagsOf are the build tags that the words of a command set.
func tagsOf(argv []string) []string {
	var tags []string
	for i, w := range argv {
		name, value, whole := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if !strings.HasPrefix(w, "-") || name != "tags" {
			continue
		}
		if !whole && i+1 < len(argv) {
			value = argv[i+1]
		}
		tags = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) // the last one counts
	}
	return tags
}

// commandTags are the build tags of a test command.
func commandTags(r schemas.Recipe, c schemas.Command) []string {
	flags := r.Variables["GOFLAGS"]
	if own, ok := c.Env["GOFLAGS"]; ok {
		flags = own
	}
	return tagsOf(append(strings.Fields(flags), c.Argv...))
}

// goTests are the calls of go test in a shell script, its own and those of the make targets
// and scripts that it calls.
func goTests(t lang.Tree, script []workflow.Word, flags string, depth int) []variant {
	var out []variant
	for _, line := range workflow.Commands(script, "") {
		command, goflags := line.Args, flags
		for len(command) > 0 && assignment.MatchString(command[0]) {
			if value, ok := strings.CutPrefix(command[0], "GOFLAGS="); ok {
				goflags = value
			}
			command = command[1:]
		}
		if len(command) == 0 {
			continue
		}
		if words, ok := testWords(command); ok {
			out = append(out, variant{append(keepFlags(strings.Fields(goflags)), keepFlags(words)...), line.Source})
			continue
		}
		if depth > 0 {
			out = append(out, goTests(t, called(t, command), goflags, depth-1)...)
		}
	}
	return out
}

const mostCalls = 5 // of one file by another

// foreignLinker is what asks for another linker, or for libraries of the CI's machine.
var foreignLinker = lazyregexp.New(`-(extld|extldflags|linkmode)\b`)

var assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

// testWords are the words behind go test, or behind the -- of gotestsum.
func testWords(command []string) ([]string, bool) {
	for i, w := range command {
		name, _, _ := strings.Cut(path.Base(w), "@")
		switch {
		case name == "gotestsum":
			at := slices.Index(command, "--")
			if at < 0 {
				return nil, true
			}
			return command[at+1:], true
		case (name == "go" || name == "richgo") && i+1 < len(command) && command[i+1] == "test":
			return command[i+2:], true
		}
	}
	return nil, false
}

// keepFlags are the flags of a call of go test that a run keeps, each as one word.
func keepFlags(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "-args" || w == "--args" {
			break
		}
		name, value, whole := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-"), "=")
		name = strings.TrimPrefix(name, "test.")
		if !strings.HasPrefix(w, "-") {
			continue
		}
		if !whole && !slices.Contains(single, name) && i+1 < len(words) {
			i++
			value = words[i]
		}
		switch {
		case !kept[name] || strings.ContainsAny(value, "$`") || value == "false" || name == "ldflags" && foreignLinker.MatchString(value):
		case name == "short":
			out = append(out, "-short")
		case value != "":
			out = append(out, "-"+name+"="+value)
		}
	}
	return out
}

// called are the lines of what a command runs: targets of make, a script of the tree.
func called(t lang.Tree, command []string) []workflow.Word {
	if path.Base(command[0]) == "make" {
		return makeLines(t, command[1:])
	}
	for _, w := range command[:min(2, len(command))] { // ./test.sh, or bash test.sh
		p := path.Clean(w)
		if path.Ext(p) != ".sh" || !t.Has(p) {
			continue
		}
		data, err := t.Read(p)
		if err != nil {
			continue
		}
		return numbered(p, string(data))
	}
	return nil
}

// variantsOf are the ways in which the CI tests, each once, the one first that compiles most
// of the changed tests; of equal ones the one with the fewest tags, then the first.
func variantsOf(p lang.Project, jobs ci, r schemas.Recipe) []variant {
	var out []variant
	seen := map[string]bool{}
	for _, v := range jobs.tests {
		v.words = settled(v.words, atLeast(r, "1.13"))
		if key := strings.Join(v.words, "\n"); !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return []variant{{nil, ""}}
	}
	compiled := func(v variant) (n int) {
		for _, test := range changedTests(p) {
			if builds(p.Solution, test, v.tags()) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b variant) int {
		if d := compiled(b) - compiled(a); d != 0 {
			return d
		}
		return len(a.tags()) - len(b.tags())
	})
	return out
}

// settled keeps the last of each flag, in order; a Go before 1.13 takes tags by blanks.
func settled(words []string, commas bool) []string {
	last := map[string]string{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		if name == "-tags" {
			tags := tagsOf([]string{w})
			slices.Sort(tags)
			separator := " "
			if commas {
				separator = ","
			}
			value = strings.Join(slices.Compact(tags), separator)
		}
		last[name] = value
	}
	var out []string
	for _, name := range []string{"-short", "-tags", "-gcflags", "-ldflags"} {
		switch value, ok := last[name]; {
		case !ok:
		case value == "":
			out = append(out, name)
		default:
			out = append(out, name+"="+value)
		}
	}
	return out
}

// changedTests are the changed files of tests that the go command can compile.
func changedTests(p lang.Project) []string {
	var out []string
	for _, test := range p.TestPaths {
		if strings.HasSuffix(test, "_test.go") && walked(dirOf(test)) {
			out = append(out, test)
		}
	}
	return out
}

// uncompiled says why no variant compiles any changed test; "" where one does, or where
// something else that changed can tell the states apart.
func uncompiled(p lang.Project, all []variant) string {
	tests := changedTests(p)
	var why []string
	for _, test := range tests {
		if slices.ContainsFunc(all, func(v variant) bool { return builds(p.Solution, test, v.tags()) }) {
			return ""
		}
		if tags := constraintOf(p.Solution, test); tags != "" {
			why = append(why, test+" has the build constraint "+tags)
		} else {
			why = append(why, test+" is for another system")
		}
	}
	if len(tests) == 0 || len(tests) < len(p.TestPaths) {
		return ""
	}
	return strings.Join(why, "; ")
}
