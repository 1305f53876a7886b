package golang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/workflow"
)

// ci is what a project's own test jobs say (design 7).
type ci struct {
	minors   []workflow.Word // Go minors of the matrix: 1.21
	file     workflow.Word   // the manifest that a job takes its Go from
	packages []workflow.Word // Debian packages that a job installs
	env      map[string]workflow.Word
	tests    []variant
}

// testLine recognises a shell line that runs Go's tests, by itself or through a build tool.
var testLine = lazyregexp.New(`\bgo(test(sum)?)? (test|vet|build)\b|\bgotestsum\b|\b(make|mage|task|just)\b.*\b(test|check|ci|all|cover)|^\s*(make|mage|task)\s*$|\.sh\b`)

// readCI reads GitHub workflows, and the older services' files where those name no version.
func readCI(t lang.Tree) ci {
	jobs := workflow.Read(t, workflow.Tests{Line: testLine.MatchString})
	var out ci
	for _, j := range jobs {
		for _, f := range j.Matrix {
			if slices.ContainsFunc(f.Keys, namesGo) {
				out.addMinor(f.Word)
			}
		}
		for _, s := range j.Steps {
			out.addStep(s)
			for _, l := range s.Lines {
				for _, value := range filled(l.Value, j.Matrix) {
					out.tests = append(out.tests, goTests(t, []workflow.Word{{Value: value, Source: l.Source}}, j.Env["GOFLAGS"].Value, mostCalls)...)
				}
			}
		}
	}
	out.env = workflow.Env(jobs)
	if len(out.minors) == 0 || len(out.tests) == 0 {
		workflows := out
		for _, p := range []string{".travis.yml", ".circleci/config.yml", "azure-pipelines.yml", ".gitlab-ci.yml", "appveyor.yml"} {
			if data, err := t.Read(p); err == nil {
				out.addPlain(p, data)
				out.addCommands(t, p, data)
			}
		}
		if len(workflows.minors) > 0 {
			out.minors = workflows.minors
		}
		if len(workflows.tests) > 0 {
			out.tests = workflows.tests
		}
	}
	return out
}

// filled are a line with each value of the matrix that it names. Other expressions stay.
func filled(line string, matrix []workflow.Field) []string {
	use := matrixUse.FindStringSubmatch(line)
	if use == nil {
		return []string{line}
	}
	var out []string
	for _, f := range matrix {
		if f.Key() == use[1] {
			out = append(out, strings.ReplaceAll(line, use[0], f.Value))
		}
	}
	if len(out) == 0 {
		return []string{line}
	}
	return out
}

var matrixUse = lazyregexp.New(`\$\{\{\s*matrix\.([A-Za-z0-9_.-]+)\s*\}\}`)

// addCommands reads calls of go test from the older services by their lines alone.
func (c *ci) addCommands(t lang.Tree, p string, data []byte) {
	for i, line := range strings.Split(string(data), "\n") {
		if m := plainCommand.FindStringSubmatch(line); m != nil && testLine.MatchString(m[1]) {
			c.tests = append(c.tests, goTests(t, []workflow.Word{{Value: strings.Trim(m[1], `"'`), Source: fmt.Sprintf("%s:%d", p, i+1)}}, "", mostCalls)...)
		}
	}
}

// plainCommand is a line of a list or the value of a key that holds a command.
var plainCommand = lazyregexp.New(`^\s*(?:-\s+)?(?:(?:script|run|command|bash|test_script)\s*:\s*)?([^#\s].*)$`)

func (c *ci) addStep(s workflow.Step) {
	c.packages = append(c.packages, s.Packages...)
	if !strings.Contains(s.Uses, "setup-go") {
		return
	}
	for _, f := range s.With {
		switch {
		case f.Key() == "go-version":
			c.addMinor(f.Word)
		case f.Key() == "go-version-file" && c.file.Value == "":
			c.file = f.Word
		}
	}
}

// namesGo recognises a key of a matrix whose values are versions of Go.
func namesGo(key string) bool {
	key = strings.ToLower(key)
	return goWord.MatchString(key) || key == "version" || key == "versions"
}

// goWord is Go in the words of a key: go, go-version, goversions, test_golang; not mongo,
// category or django.
var goWord = lazyregexp.New(`(^|[^a-z])(go|golang|gover|go-?lang)([^a-z]|$|vers)|(^|[^a-z])govers`)

// minorWord takes 1.21 of "1.21", "1.21.x", "^1.21", "~1.21.3", "go1.21"; words
// like stable, oldstable, 1.x and previews name no version.
var minorWord = lazyregexp.New(`^(?:go|v|[~^]|>=)?\s*(1\.[0-9]{1,2})(?:\.(?:x|\*|[0-9]+))?$`)

func (c *ci) addMinor(w workflow.Word) {
	if m := minorWord.FindStringSubmatch(strings.TrimSpace(w.Value)); m != nil {
		c.minors = append(c.minors, workflow.Word{Value: m[1], Source: w.Source})
	}
}

// stepVersion recognises a variable that CI files keep for their own steps.
var stepVersion = lazyregexp.New(`VERSION`)

// addPlain reads versions from the older services by their words alone.
var plainGo = lazyregexp.New(`(?:\bgo(?:lang)?[:_-]|image:.*golang:|^\s*-\s*["']?(?:go)?)\s*["']?(1\.[0-9]{1,2})(?:\.(?:x|[0-9]+))?["']?\s*(?:$|[,\]#-])`)

func (c *ci) addPlain(p string, data []byte) {
	for i, line := range strings.Split(string(data), "\n") {
		if m := plainGo.FindStringSubmatch(line); m != nil {
			c.minors = append(c.minors, workflow.Word{Value: m[1], Source: fmt.Sprintf("%s:%d", p, i+1)})
		}
	}
}
