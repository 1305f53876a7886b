package golang

import (
	"bufio"
	"bytes"
	_ "embed" // the settings for all tasks
	"encoding/json"
	"fmt"
	"go/version"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// The linters.
const (
	vet         = "go vet"
	staticcheck = "staticcheck"
	lintOut     = "/tmp/.benchmint-lint"
)

// toFile keeps what a linter prints apart from what it complains about.
const toFile = `exec "$@" >"$0"`

//go:embed lint_staticcheck.txt
var checks string

var _ lang.Linter = Language{}

// LintTools is staticcheck; vet is Go's own.
func (Language) LintTools() []lang.Need {
	return []lang.Need{{Name: staticcheck, Why: "lints Go"}}
}

// Standard are the checks of staticcheck; vet has no settings.
func (Language) Standard() map[string]string {
	return map[string]string{"lint_staticcheck.txt": checks}
}

// ByStandard empties staticcheck.conf, which ends staticcheck where it is not valid.
func (Language) ByStandard(p string, data []byte, by lang.LintSettings) []byte {
	switch {
	case path.Base(p) == "staticcheck.conf":
		return nil
	case by == lang.Unsuppressed && path.Ext(p) == ".go":
		for _, c := range suppressing {
			data = bytes.ReplaceAll(data, []byte(c.says), []byte(c.instead))
		}
	}
	return data
}

// suppressing are comments because of which staticcheck is silent, and texts as long that say nothing to it.
var suppressing = []struct{ says, instead string }{
	{"//lint:", "//lint-"},
	{"// Code generated ", "// Code Generated "},
	{"// Created by cgo - DO NOT EDIT", "// Created by Cgo - DO NOT EDIT"},
}

// checkWords are the options of staticcheck by settings that are ours.
func checkWords(r schemas.Recipe) []string {
	var names []string
	for line := range strings.Lines(checks) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	return []string{"-checks", strings.Join(names, ","), "-go", strings.TrimPrefix(version.Lang("go"+r.Toolchain.Version), "go")}
}

// Lints checks every package of each module that has tests; findings are narrowed to the
// files by whoever asks. Vet heeds no comment.
func (Language) Lints(r schemas.Recipe, files []string, by lang.LintSettings) []lang.LintRun {
	if len(files) == 0 {
		return nil
	}
	var ours []string
	if by != lang.OwnSettings {
		ours = checkWords(r)
	}
	var out []lang.LintRun
	for _, c := range r.Test {
		env := map[string]string{"GOMAXPROCS": gomaxprocs, "PATH": goRoot(r) + "/bin:/usr/local/bin:/usr/bin:/bin"}
		for k, v := range c.Env {
			env[k] = v
		}
		words := buildWords(c.Argv)
		command := func(argv ...string) recipe.TestRun {
			return recipe.TestRun{Command: schemas.Command{Argv: argv, Dir: c.Dir, Env: env}}
		}
		var tags []string // staticcheck knows no other word of a build
		for i, w := range words {
			if name := strings.TrimLeft(w, "-"); name == "tags" && i+1 < len(words) {
				tags = append(tags, w, words[i+1])
			} else if strings.HasPrefix(name, "tags=") {
				tags = append(tags, w)
			}
		}
		check := command(slices.Concat([]string{"sh", "-c", toFile, lintOut, path.Join(sandbox.RunPath, staticcheck), "-f", "json"}, ours, tags, []string{"./..."})...)
		check.Report = lintOut
		if by != lang.Unsuppressed {
			out = append(out, lang.LintRun{Tool: vet, TestRun: command(slices.Concat([]string{goCommand(r), "vet"}, words, []string{"./..."})...)})
		}
		out = append(out, lang.LintRun{Tool: staticcheck, Needs: staticcheck, TestRun: check})
	}
	return out
}

// Findings reads what they print.
func (Language) Findings(run lang.LintRun, out lang.Output) ([]lang.Finding, error) {
	if run.Tool == staticcheck {
		return staticcheckFindings(run, out)
	}
	found := placed(run, out.Report, "vet")
	if out.Result.ExitCode != 0 && len(found) == 0 {
		return nil, fmt.Errorf("%s ended with code %d: %s", run.Tool, out.Result.ExitCode, lastLine(out.Result.Output))
	}
	return found, nil
}

// place is "file.go:LINE:COLUMN: message", behind "vet: " where the file does not compile.
var place = lazyregexp.New(`^(?:vet: )?(\S[^:]*\.go):(\d+):(?:(\d+):)? (.*)$`)

// placed are the findings of lines that name a place.
func placed(run lang.LintRun, text []byte, rule string) []lang.Finding {
	var found []lang.Finding
	for scan := bufio.NewScanner(bytes.NewReader(text)); scan.Scan(); {
		m := place.FindStringSubmatch(scan.Text())
		if m == nil {
			continue
		}
		f := lang.Finding{Tool: run.Tool, Path: inTree(m[1], run.Command.Dir), Rule: rule, Message: m[4]}
		f.Line, _ = strconv.Atoi(m[2])   // digits
		f.Column, _ = strconv.Atoi(m[3]) // digits, or nothing
		found = append(found, f)
	}
	return found
}

func staticcheckFindings(run lang.LintRun, out lang.Output) ([]lang.Finding, error) {
	var found []lang.Finding
	for dec := json.NewDecoder(bytes.NewReader(out.Report)); ; {
		var f struct {
			Code     string
			Message  string
			Location struct {
				File         string
				Line, Column int
			}
		}
		err := dec.Decode(&f)
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s ended with code %d: %w: %s", run.Tool, out.Result.ExitCode, err, lastLine(out.Result.Output))
		}
		if f.Location.File == "" { // a package that does not compile, in the compiler's words
			found = append(found, placed(run, []byte(f.Message), f.Code)...)
			continue
		}
		found = append(found, lang.Finding{Tool: staticcheck, Path: inTree(f.Location.File, run.Command.Dir), Line: f.Location.Line, Column: f.Location.Column, Rule: f.Code, Message: f.Message})
	}
}

// inTree is a path as the tree knows it, of one that a program in a folder says.
func inTree(p, dir string) string {
	if p == "" {
		return ""
	}
	if !path.IsAbs(p) {
		p = path.Join(sandbox.TreePath, dir, p)
	}
	return strings.TrimPrefix(path.Clean(p), sandbox.TreePath+"/")
}

func lastLine(log []byte) string {
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return lines[len(lines)-1]
}
