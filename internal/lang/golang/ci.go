package golang

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/benchmint/benchmint/internal/lang"
)

// ci is what a project's own test jobs say (facts: environments, 1.0 rule 4).
type ci struct {
	minors   []word // Go minors of the matrix: 1.21
	file     word   // the manifest that a job takes its Go from
	packages []word // Debian packages that a job installs
	env      map[string]word
}

// word is a value and the place it was found at.
type word struct{ value, source string }

// notTests are parts of names of workflows and jobs that run something else.
var notTests = []string{
	"lint", "doc", "type", "bench", "nightly", "release", "random", "publish", "fuzz", "wasm", "windows",
	"macos", "codeql", "stale", "scorecard", "deploy", "vuln", "tidy",
}

func skippedName(name string) bool {
	name = strings.ToLower(name)
	for _, w := range notTests {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// workflow is the little of a GitHub workflow that matters here.
type workflow struct {
	Env  map[string]any `yaml:"env"`
	Jobs map[string]job `yaml:"jobs"`
}

type job struct {
	Name     string         `yaml:"name"`
	Env      map[string]any `yaml:"env"`
	Strategy struct {
		Matrix any `yaml:"matrix"`
	} `yaml:"strategy"`
	Steps []step `yaml:"steps"`
}

type step struct {
	Uses string         `yaml:"uses"`
	Run  string         `yaml:"run"`
	With map[string]any `yaml:"with"`
	Env  map[string]any `yaml:"env"`
}

// readCI reads GitHub workflows, and the older services' files where there are none.
func readCI(t lang.Tree) ci {
	out := ci{env: map[string]word{}}
	for _, p := range t.Paths() {
		if path.Dir(p) != ".github/workflows" || !strings.HasSuffix(p, ".yml") && !strings.HasSuffix(p, ".yaml") {
			continue
		}
		data, err := t.Read(p)
		if err != nil || skippedName(path.Base(p)) {
			continue
		}
		var w workflow
		if yaml.Unmarshal(data, &w) != nil {
			continue // templates and broken files say nothing
		}
		out.addWorkflow(p, data, w)
	}
	if len(out.minors) == 0 {
		for _, p := range []string{".travis.yml", ".circleci/config.yml", "azure-pipelines.yml", ".gitlab-ci.yml", "appveyor.yml"} {
			if data, err := t.Read(p); err == nil {
				out.addPlain(p, data)
			}
		}
	}
	return out
}

func (c *ci) addWorkflow(p string, data []byte, w workflow) {
	var names []string
	for name := range w.Jobs {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		j := w.Jobs[name]
		if skippedName(name) || skippedName(j.Name) || !j.tests() {
			continue
		}
		c.addMinors(p, data, versionsOf(j.Strategy.Matrix, true))
		c.addEnv(p, data, w.Env)
		c.addEnv(p, data, j.Env)
		for _, s := range j.Steps {
			if strings.Contains(s.Uses, "setup-go") {
				c.addMinors(p, data, versionsOf(s.With["go-version"], false))
				if f, ok := s.With["go-version-file"].(string); ok && c.file.value == "" {
					c.file = word{f, lineOf(p, data, "go-version-file")}
				}
			}
			if strings.Contains(s.Run, "go test") {
				c.addEnv(p, data, s.Env)
			}
			for _, pkg := range aptWords(s.Run) {
				c.packages = append(c.packages, word{pkg, lineOf(p, data, pkg)})
			}
		}
	}
}

// tests tells a job that runs Go's tests, by itself or through a build tool.
func (j job) tests() bool {
	for _, s := range j.Steps {
		if testLine.MatchString(s.Run) {
			return true
		}
	}
	return false
}

var testLine = regexp.MustCompile(`\bgo(test(sum)?)? (test|vet|build)\b|\bgotestsum\b|\b(make|mage|task|just)\b.*\b(test|check|ci|all|cover)|(?m)^\s*(make|mage|task)\s*$|\.sh\b`)

// versionsOf collects version words below a matrix value; with keys, only those
// under a key that names go.
func versionsOf(v any, keyed bool) []string {
	switch v := v.(type) {
	case map[string]any:
		var keys []string
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		var out []string
		for _, k := range keys {
			lower := strings.ToLower(k)
			switch {
			case keyed && (lower == "include" || lower == "exclude"):
				if lower == "include" {
					out = append(out, versionsOf(v[k], true)...)
				}
			case !keyed || strings.Contains(lower, "go") || lower == "version" || lower == "versions":
				out = append(out, versionsOf(v[k], false)...)
			}
		}
		return out
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, versionsOf(e, keyed)...)
		}
		return out
	case nil:
		return nil
	}
	if keyed {
		return nil
	}
	text := fmt.Sprint(v)
	if f, ok := v.(float64); ok && f == 1.2 {
		text = "1.20" // an unquoted 1.20 is a number to YAML; nobody tests Go 1.2
	}
	return []string{text}
}

// minorWord takes 1.21 of "1.21", "1.21.x", "^1.21", "~1.21.3", "go1.21"; words
// like stable, oldstable, 1.x and previews name no version.
var minorWord = regexp.MustCompile(`^(?:go|v|[~^]|>=)?\s*(1\.[0-9]{1,2})(?:\.(?:x|\*|[0-9]+))?$`)

func (c *ci) addMinors(p string, data []byte, words []string) {
	for _, w := range words {
		if m := minorWord.FindStringSubmatch(strings.TrimSpace(w)); m != nil {
			c.minors = append(c.minors, word{m[1], lineOf(p, data, m[1])})
		}
	}
}

// ownEnv are variables that steer the go command or name a place: a recipe has
// its own, and a secret is none of ours.
var ownEnv = regexp.MustCompile(`^(GO(FLAGS|PROXY|PATH|CACHE|MODCACHE|TOOLCHAIN|ROOT|BIN|OS|ARCH|ENV|SUMDB|NOSUMDB|NOSUMCHECK|PRIVATE|WORK|TESTFLAGS)|PATH|HOME|CI|SHELL|TZ|LANG)$|GITHUB|TOKEN|SECRET|PASSWORD|KEY|CODECOV|COVER|CACHE|VERSION`)

var literal = regexp.MustCompile(`^[A-Za-z0-9_.,:=/@+ -]*$`)

func (c *ci) addEnv(p string, data []byte, env map[string]any) {
	for k, v := range env {
		text := fmt.Sprint(v)
		if _, ok := c.env[k]; ok || ownEnv.MatchString(k) || !literal.MatchString(text) || v == nil {
			continue
		}
		c.env[k] = word{text, lineOf(p, data, k)}
	}
}

// addPlain reads versions from the older services by their words alone.
var plainGo = regexp.MustCompile(`(?:\bgo(?:lang)?[:_-]|image:.*golang:|^\s*-\s*["']?(?:go)?)\s*["']?(1\.[0-9]{1,2})(?:\.(?:x|[0-9]+))?["']?\s*(?:$|[,\]#-])`)

func (c *ci) addPlain(p string, data []byte) {
	for i, line := range strings.Split(string(data), "\n") {
		if m := plainGo.FindStringSubmatch(line); m != nil {
			c.minors = append(c.minors, word{m[1], fmt.Sprintf("%s:%d", p, i+1)})
		}
	}
}

var (
	aptLine = regexp.MustCompile(`apt(?:-get)?\s+(?:-[\w-]+\s+)*install\s+([^\n&|;]*(?:\\\n[^\n&|;]*)*)`)
	aptWord = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]+$`)
)

// aptWords are the packages that a shell text installs.
func aptWords(run string) []string {
	var out []string
	for _, m := range aptLine.FindAllStringSubmatch(run, -1) {
		for _, w := range strings.Fields(strings.ReplaceAll(m[1], "\\\n", " ")) {
			if aptWord.MatchString(w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// lineOf is path:line of the first line that holds a text.
func lineOf(p string, data []byte, text string) string {
	at := bytes.Index(data, []byte(text))
	if at < 0 {
		return p
	}
	return fmt.Sprintf("%s:%d", p, 1+bytes.Count(data[:at], []byte("\n")))
}
