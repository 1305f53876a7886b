package golang

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ lang.Compiler = Language{}

// Places of test programs inside the sandbox: each has a folder below programsPath, whose name is its number.
const (
	programsPath = sandbox.EnvPath + "/tests"
	keepPath     = programsPath + "/keep"
	madePath     = programsPath + "/made"
	saidPath     = sandbox.RunPath + "/said"
	testjsonPath = sandbox.EnvPath + "/test2json"
)

// keepProgram is for go test -exec. It moves a test program out of the way in the place of running it, with all that it
// would have run with.
const keepProgram = `#!/bin/sh
n=1
until mkdir "` + programsPath + `/$n" 2>/dev/null; do n=$((n + 1)); done
cd "` + programsPath + `/$n" && mkdir program && mv "$1" program/ || exit 1
printf '%s\0' "$OLDPWD" "$PWD/program/${1##*/}" >argv
shift
printf '%s\0' "$@" >>argv
env -0 >variables
echo "` + keptLine + `$n"
`

// keptLine begins the line by which go test itself says of which package a program is.
const keptLine = "benchmint keeps program "

// makePrograms notes the variables before go test, what that says, and packs the notes.
const makePrograms = `cd "$0" && env -0 >variables; cd "$OLDPWD" && "$@" >"$0/said" 2>&1 </dev/null; echo $? >"$0/code"
cd "$0" && set -- variables said code && for d in [1-9]*; do [ ! -d "$d" ] || set -- "$@" "$d/argv" "$d/variables"; done; tar -cf made "$@"`

// Compile has go test build and link all programs, and keep them.
func (Language) Compile(_ schemas.Recipe, run recipe.TestRun) (recipe.Step, bool) {
	argv := slices.DeleteFunc(slices.Clone(run.Command.Argv), func(w string) bool { return w == "-exec="+apartPath })
	at := slices.Index(argv, "test")
	if at < 0 || slices.ContainsFunc(argv, func(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "--exec") }) {
		return recipe.Step{}, false
	}
	argv = slices.Insert(argv, at+1, "-exec="+keepPath)
	return recipe.Step{
		Files:    []sandbox.File{{Path: keepPath, Mode: 0o555, Data: []byte(keepProgram)}},
		Commands: []schemas.Command{{Argv: append([]string{"sh", "-c", makePrograms, programsPath}, argv...), Dir: run.Command.Dir, Env: run.Command.Env}},
		Collect:  []string{madePath},
	}, true
}

// Compiled implements lang.Compiler.
func (Language) Compiled(p string) bool { return strings.HasSuffix(p, "_test.go") }

// Told is the packages of a run, and the lists of tests that run apart.
func (Language) Told(run recipe.TestRun) []byte {
	var out []byte
	for _, f := range run.Inputs {
		if f.Path == planPath || strings.HasPrefix(f.Path, apartFolder+"/") {
			out = append(append(append(out, f.Path...), 0), f.Data...)
		}
	}
	return out
}

// testBuild is what Compile left.
type testBuild struct {
	said      []byte            // by go test
	code      int               // its exit code
	variables map[string]string // of go test
	programs  []testProgram     // in the order in which they were made
}

type testProgram struct {
	pkg, dir  string
	argv      []string
	variables map[string]string
}

func readBuild(made []byte) (b testBuild, err error) {
	files := map[string][]byte{}
	for in := tar.NewReader(bytes.NewReader(made)); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return b, fmt.Errorf("reading what go test made: %w", err)
		}
		if files[h.Name], err = io.ReadAll(in); err != nil {
			return b, fmt.Errorf("reading what go test made: %w", err)
		}
	}
	b.said, b.variables = files["said"], variablesOf(files["variables"])
	if b.code, err = strconv.Atoi(strings.TrimSpace(string(files["code"]))); err != nil {
		return b, errors.New("go test left no exit code")
	}
	packages := map[int]string{}
	for line := range bytes.Lines(b.said) {
		var e event
		if json.Unmarshal(line, &e) != nil || e.Package == "" || !strings.HasPrefix(e.Output, keptLine) {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(e.Output, keptLine))); err == nil {
			packages[n] = e.Package
		}
	}
	for n := 1; ; n++ {
		argv, ok := files[strconv.Itoa(n)+"/argv"]
		if !ok {
			return b, nil
		}
		words := strings.Split(strings.TrimSuffix(string(argv), "\x00"), "\x00")
		if len(words) < 2 || packages[n] == "" {
			return b, fmt.Errorf("go test does not say of which package its program %d is", n)
		}
		b.programs = append(b.programs, testProgram{packages[n], words[0], words[1:], variablesOf(files[strconv.Itoa(n)+"/variables"])})
	}
}

func variablesOf(data []byte) map[string]string {
	out := map[string]string{}
	for v := range strings.SplitSeq(string(data), "\x00") {
		if name, value, ok := strings.Cut(v, "="); ok {
			out[name] = value
		}
	}
	return out
}

// Programs run in the folders and with the words and variables that go test would have given them.
func (Language) Programs(r schemas.Recipe, run recipe.TestRun, made []byte) (programs []recipe.TestRun, code int, err error) {
	b, err := readBuild(made)
	if err != nil {
		return nil, 0, err
	}
	var runs []recipe.TestRun
	for _, p := range b.programs {
		env := maps.Clone(run.Command.Env)
		for name, value := range p.variables {
			if before, ok := b.variables[name]; name != "_" && name != "SHLVL" && name != "OLDPWD" && (!ok || before != value) {
				env[name] = value
			}
		}
		env["PWD"] = p.dir
		out := recipe.TestRun{Command: schemas.Command{Argv: p.argv, Dir: p.dir, Env: env}, Sealed: []string{modCache(r), programsPath}}
		if isApart(run) {
			out.Command.Argv = append([]string{apartPath}, p.argv...)
			for _, f := range run.Inputs { // no canary: it names the others
				if f.Path == apartPath || strings.HasPrefix(f.Path, apartFolder+"/") {
					out.Inputs = append(out.Inputs, f)
				}
			}
		}
		runs = append(runs, out)
	}
	return runs, b.code, nil
}

// takeConverter takes test2json from the toolchain, or compiles it: since Go 1.25 no release brings it.
const takeConverter = `tool=$("$0" env GOTOOLDIR)/test2json; if [ -x "$tool" ]; then cp "$tool" "$1"; else "$0" build -o "$1" cmd/test2json; fi`

// Converter implements lang.Compiler.
func (Language) Converter(r schemas.Recipe) recipe.Step {
	return recipe.Step{
		Commands: []schemas.Command{{Argv: []string{"sh", "-c", takeConverter, goCommand(r), testjsonPath}, Dir: "/tmp"}},
		Env:      map[string]string{"GOFLAGS": "", "GOWORK": "off", "CGO_ENABLED": "0", "GOPROXY": "off"},
	}
}

// convert reads what go test and programs said, and says it as go test -json does.
const convert = `cat build && for f in [0-9]*.said; do [ ! -f "$f" ] || { "$0" -p "$(cat "${f%said}package")" <"$f" && cat "${f%said}end"; } || exit 1; done`

// Convert gives test2json what each program said, with the last line of go test, and ends the package as go test does: by
// the exit code.
func (Language) Convert(r schemas.Recipe, made []byte, said []sandbox.Result) (recipe.TestRun, error) {
	b, err := readBuild(made)
	if err != nil {
		return recipe.TestRun{}, err
	}
	run := recipe.TestRun{Command: schemas.Command{Argv: []string{"sh", "-c", convert, testjsonPath}, Dir: saidPath}}
	put := func(name string, data []byte) {
		run.Inputs = append(run.Inputs, sandbox.File{Path: path.Join(saidPath, name), Mode: 0o444, Data: data})
	}
	mark := "\x16" // of lines of package testing
	if unmarked(r) {
		mark = ""
	}
	apart := map[string]bool{}
	for i, p := range b.programs {
		apart[p.pkg] = true
		if i >= len(said) {
			continue
		}
		text, action := slices.Clip(said[i].Output), ""
		if n := len(text); n > 0 && text[n-1] != '\n' {
			text = append(text, '\n')
		}
		switch code := said[i].ExitCode; {
		case said[i].End != sandbox.Exited:
		case code == 0:
			text, action = fmt.Appendf(text, "ok  \t%s\t0.000s\n", p.pkg), "pass"
		default:
			if len(text) == 0 {
				text = fmt.Appendf(text, "exit status %d\n", code)
			}
			text, action = fmt.Appendf(text, "%sFAIL\t%s\t0.000s\n", mark, p.pkg), "fail"
		}
		var end []byte
		if action != "" {
			end = append(encode(map[string]string{"Action": action, "Package": p.pkg}), '\n')
		}
		put(fmt.Sprintf("%06d.said", i), text)
		put(fmt.Sprintf("%06d.package", i), []byte(p.pkg))
		put(fmt.Sprintf("%06d.end", i), end)
	}
	var rest []byte // of packages without a program, and of none
	for line := range bytes.Lines(b.said) {
		var e event
		if json.Unmarshal(line, &e) != nil || !apart[e.Package] {
			rest = append(rest, line...)
		}
	}
	put("build", rest)
	return run, nil
}
