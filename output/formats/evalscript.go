package formats

import (
	"bytes"
	_ "embed" // the converters
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed convert/pytest.py
var convertPytest []byte

//go:embed convert/gotest.go.txt
var convertGo []byte

// The lines between which SWE-bench reads results.
const (
	startMarker = ">>>>> Start Test Output"
	endMarker   = ">>>>> End Test Output"
)

// converter turns what the runs of one report format leave into lines `PASSED id`,
// `FAILED id` and `SKIPPED id`. It needs nothing that a task's image does not have:
// the toolchain of the task runs it.
type converter struct {
	name   string // of the file in the script's own folder
	source []byte
	// ready is a command that runs before the tests, and lines the one that prints.
	ready, lines string
}

func converterOf(r schemas.Recipe, reports []string) (converter, error) {
	home := sandbox.ToolchainPath + "/" + r.Toolchain.Name + "-" + r.Toolchain.Version + "/bin/"
	switch r.Report {
	case "benchmint-pytest":
		if len(reports) == 0 {
			return converter{}, errors.New("run.sh names no report")
		}
		return converter{
			name: "convert.py", source: convertPytest,
			lines: recipe.Quote(home+"python3") + ` -S -E -B "$work/convert.py" ` + strings.Join(reports, " "),
		}, nil
	case "go-test-json":
		// Built before any code of the patch runs.
		build := schemas.Command{Argv: []string{home + "go", "build", "-o", "convert", "convert.go"}, Env: map[string]string{"GO111MODULE": "off", "GOFLAGS": ""}}
		return converter{
			name: "convert.go", source: convertGo,
			ready: `mkdir "$work/go" && chmod 777 "$work/go" && cp "$work/convert.go" "$work/go" || exit 2
(cd "$work/go" && as_owner ` + recipe.ShellLine(build, r.Variables) + `) && cp "$work/go/convert" "$work" || exit 2`,
			lines: `"$work/convert" "$work/log"`,
		}, nil
	}
	return converter{}, fmt.Errorf("nothing in its image reads reports of the format %q", r.Report)
}

var reportLine = lazyregexp.New(`(?m)^echo 'report: '(.+)$`)

// reports are the files that run.sh says its runs report to, as words of a shell.
func reports(script []byte) []string {
	var out []string
	for _, m := range reportLine.FindAllSubmatch(script, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// script is a script that runs the tests of one task as the tree's owner.
type script struct {
	bytes.Buffer
	// put brings a file of the task into the folder $work.
	put func(b *bytes.Buffer, name string, data []byte)
	// head is the commit of the start, as git of the tree knows it.
	head string
}

// say adds a line.
func (s *script) say(form string, args ...any) { fmt.Fprintf(s, form+"\n", args...) }

// begin goes into the tree and makes the script's own folder $work.
func (s *script) begin() {
	s.say("set -u\ncd %[1]s || exit 2\ngit config --global --add safe.directory %[1]s", sandbox.TreePath)
	s.say("owner=$(stat -c %%u:%%g .) || exit 2\nwork=$(mktemp -d) && umask 022 && mkdir \"$work/run\" && chmod 755 \"$work\" || exit 2")
	s.say(`as_owner() {
  if [ "$(id -u)" != 0 ] || [ "${owner%%:*}" = 0 ]; then "$@"; return; fi
  setpriv --reuid="${owner%%:*}" --regid="${owner#*:}" --clear-groups env HOME=%s "$@"
}`, sandbox.HomePath)
}

// run puts the tests in place and runs them: $rc is their exit code, $work/log what they
// print. The line that it gives prints the results.
func (s *script) run(t Task) (results string, err error) {
	if t.Recipe.Service != nil {
		return s.serve(t)
	}
	files := reports(t.Script)
	convert, err := converterOf(t.Recipe, files)
	if err != nil {
		return "", err
	}
	s.say("\n# The files of the tests are the task's, whatever the patch did to them.")
	for _, p := range changed(t.Base, t.Start) {
		if _, there := t.Base.Entry(p); there {
			s.say("rm -rf -- %[1]s; git --literal-pathspecs checkout -q %[2]s -- %[1]s || exit 2", recipe.Quote(p), s.head)
		} else {
			s.say("rm -rf -- %s", recipe.Quote(p))
		}
	}
	if len(t.Hidden) > 0 {
		s.put(&s.Buffer, "test.patch", t.Hidden)
		s.say("git apply --whitespace=nowarn \"$work/test.patch\" || exit 2")
	}
	s.say("\n# What the task runs, and what reads its report.")
	s.put(&s.Buffer, "run.sh", t.Script)
	for _, in := range t.Inputs {
		s.put(&s.Buffer, in.Name, in.Data)
	}
	s.put(&s.Buffer, convert.name, convert.source)
	if convert.ready != "" {
		s.say("%s", convert.ready)
	}
	for _, f := range files {
		s.say("rm -rf -- %s", f)
	}
	s.say("if [ \"$(id -u)\" = 0 ]; then mkdir -p %[1]s; chown -R \"$owner\" . %[1]s; fi", sandbox.RunPath)
	s.say("as_owner bash \"$work/run.sh\" >\"$work/log\" 2>&1; rc=$?")
	return convert.lines, nil
}

// evalScript is what SWE-bench 5 runs as root after it has applied a patch. What the tests
// print comes after the results, where no line of it can be taken for one.
func evalScript(t Task) ([]byte, error) {
	s := &script{put: put, head: "HEAD"}
	s.say("#!/bin/bash\n# %s, for SWE-bench: the tests of the task in the tree as it is.", t.InstanceID)
	s.say("exec 2>&1 # one stream, so that nothing comes later than it was said")
	if t.Recipe.Service != nil {
		s.say("[ ! -f \"$0\" ] || chmod go-rwx -- \"$0\" || exit 2 # it holds what the service must not read")
	}
	s.begin()
	results, err := s.run(t)
	if err != nil {
		return nil, err
	}
	// SWE-bench traces the script. A marker that the trace repeats would cut the results.
	s.say("{ set +x; } 2>/dev/null\necho '%s'\n%s\n(exit \"$rc\")\necho '%s'", startMarker, results, endMarker)
	s.say("tail -c 1000000 \"$work/log\" | sed 's/^/| /'")
	if !utf8.Valid(s.Bytes()) {
		return nil, errors.New("its script is not UTF-8")
	}
	return s.Bytes(), nil
}

// put writes a file into the script's own folder: as it is where a heredoc keeps every
// byte and no line of it could be taken for a line of the script, else as base64.
func put(b *bytes.Buffer, name string, data []byte) {
	text := string(data)
	plain := utf8.Valid(data) && strings.HasSuffix(text, "\n") && !strings.ContainsRune(text, 0) && !strings.Contains(text, ">>>>>")
	file := `"$work"/` + recipe.Quote(name)
	end := delimiter(text)
	if !plain {
		fmt.Fprintf(b, "base64 -d >%s <<'%s'\n%s\n%s\n", file, end, wrapped(base64.StdEncoding.EncodeToString(data)), end)
		return
	}
	fmt.Fprintf(b, "cat >%s <<'%s'\n%s%s\n", file, end, text, end)
}

// delimiter ends a heredoc: a word of the text's own digest that is not in it.
func delimiter(text string) string {
	for n := 0; ; n++ {
		_, hex, _ := strings.Cut(string(schemas.DigestBytes(fmt.Appendf(nil, "%d\x00%s", n, text))), ":")
		if word := "EOF_" + hex[:16]; !strings.Contains(text, word) {
			return word
		}
	}
}

func wrapped(s string) string {
	const width = 100
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n")
		s = s[width:]
	}
	return b.String() + s
}
