package e2e

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the commands of README and docs print into these pages")

// vary are the parts of an output that differ between machines and runs: digests,
// measured times, versions of toolchains, the sandbox that was at hand.
var vary = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b[0-9a-f]{12,64}\b`), "HEX"},
	{regexp.MustCompile(`\b\d[0-9.hmµ]*s\b`), "TIME"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\b`), "VERSION"},
	{regexp.MustCompile(`\b\d+\.\d+ s\b`), "TIME"},
	{regexp.MustCompile(`\b(docker|bwrap)\b`), "SANDBOX"},
	{regexp.MustCompile(` {2,}`), "  "},
}

func steady(s string) string {
	for _, v := range vary {
		s = v.re.ReplaceAllString(s, v.with)
	}
	return s
}

// command is one "$ benchmint …" of a page with the lines that it shows.
type command struct {
	args []string
	from int // line of the command
	want []string
}

// commands finds the console blocks.
func commands(lines []string) []command {
	var out []command
	inside := false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ benchmint "):
			out = append(out, command{args: strings.Fields(line)[2:], from: i})
		case inside && len(out) > 0:
			out[len(out)-1].want = append(out[len(out)-1].want, line)
		}
	}
	return out
}

// page is a page with the commands that it shows.
type page struct {
	path  string
	lines []string
	tour  []command
}

// pages are the README and the pages of docs.
func pages(t *testing.T) []*page {
	t.Helper()
	paths, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []*page
	for _, path := range append([]string{"../README.md"}, paths...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		all = append(all, &page{path, lines, commands(lines)})
	}
	return all
}

// The demo runs as `make demo` runs it: each change ends as is written beside the samples.
// Then every command that the README or a page of docs shows prints what the page shows, and
// the README's row is the dataset's.
func TestReadme(t *testing.T) {
	t.Parallel()
	all := pages(t)
	shown := 0
	for _, p := range all {
		shown += len(p.tour)
	}
	if shown < 7 {
		t.Fatalf("only %d commands found in README and docs", shown)
	}
	b := &bench{env: needs(t, "bwrap"), dir: filepath.Join(t.TempDir(), "demo")}
	demo := exec.Command("../.ci/demo", b.dir)
	// Bubblewrap on every machine: what is shown must not hang on an engine.
	demo.Env = append(slices.Clone(b.env), "BENCHMINT_SANDBOX_KIND=bwrap")
	b.env = demo.Env
	out, err := demo.CombinedOutput()
	if err != nil {
		t.Fatalf(".ci/demo: %v\n%s", err, tail(string(out)))
	}
	compareAsked(t, b.read(t, "benchmint-out"), (&bench{all: true}).load(t, "demo-"))
	checkRow(t, all[0], filepath.Join(b.dir, "benchmint-out", "data", "test.jsonl"))
	for _, p := range all {
		for _, c := range slices.Backward(p.tour) { // from the end, so that line numbers hold
			got := strings.Split(strings.TrimRight(b.must(t, c.args...), "\n"), "\n")
			if c.args[0] == "run" { // what the demo printed is what a first run says
				got = between(string(out), "$ benchmint run -c benchmint.yaml\n", "\n\n$ ")
				// What runs is said where a machine is slow.
				got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "  ") })
			}
			got = slices.DeleteFunc(got, progress.MatchString)
			if *update {
				p.lines = slices.Replace(p.lines, c.from+1, c.from+1+len(c.want), got...)
				continue
			}
			want := c.want
			if c.args[0] == "run" { // items end in the order of work, which is the machine's
				want, got = sorted(want), sorted(got)
			}
			if diff := cmp.Diff(steady(strings.Join(want, "\n")), steady(strings.Join(got, "\n"))); diff != "" {
				t.Errorf("%s:%d: benchmint %s prints something else (-page +now); go test ./e2e -run TestReadme -update:\n%s", p.path, c.from+1, strings.Join(c.args, " "), diff)
			}
		}
		if *update {
			if err := os.WriteFile(p.path, []byte(strings.Join(p.lines, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// progress is a line of what runs, and how much is to do: it is said where a machine is slow.
var progress = regexp.MustCompile(`^  \w+ +\S+ +[0-9.hmµ]*s  .*\([0-9.hmµ]*s\)$|^  .*\bto do\b`)

// column is a line of the README's row; cut is what stands for the rest of a value.
var column = regexp.MustCompile(`^  ("\w+"): ("(?:[^"\\]|\\.)*)"(,?)$`)

const cut = "…"

// checkRow holds the row that the README shows, its first block of JSON, to the dataset: each
// value is the row's, or begins it and ends in cut.
func checkRow(t *testing.T, readme *page, file string) {
	t.Helper()
	begin := slices.Index(readme.lines, "```json")
	if begin < 0 {
		t.Fatal("the README shows no row")
	}
	length := slices.Index(readme.lines[begin:], "```")
	block := readme.lines[begin+2 : begin+length-1]
	row := rowOf(t, file, block[0])
	for i, line := range block {
		m := column.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is not a column of a row", line)
		}
		text, ok := row[strings.Trim(m[1], `"`)]
		start, isCut := strings.CutSuffix(m[2], cut)
		switch {
		case *update && isCut:
			if at := max(len(start), 90-len(m[1])); at < len(text)-1 {
				text = strings.TrimRight(text[:at], `\`) + cut + `"`
			}
			block[i] = "  " + m[1] + ": " + text + m[3]
		case !ok || isCut && !strings.HasPrefix(text, start) || !isCut && text != m[2]+`"`:
			t.Errorf("README.md: the row has another %s: %s", m[1], text)
		}
	}
}

// rowOf is the row of a dataset whose JSON holds the line, each value as JSON writes it.
func rowOf(t *testing.T, file, line string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	id := column.FindStringSubmatch(line)
	for one := range strings.Lines(string(text)) {
		var values map[string]json.RawMessage
		if err := json.Unmarshal([]byte(one), &values); err != nil {
			t.Fatal(err)
		}
		if id == nil || string(values["instance_id"]) != id[2]+`"` {
			continue
		}
		row := map[string]string{}
		for key, value := range values {
			row[key] = string(value)
		}
		return row
	}
	t.Fatalf("the dataset has no row with %s", line)
	return nil
}

func between(s, begin, end string) []string {
	_, s, _ = strings.Cut(s, begin)
	s, _, _ = strings.Cut(s, end)
	return strings.Split(strings.TrimRight(s, "\n"), "\n")
}

func TestCommands(t *testing.T) {
	t.Parallel()
	got := commands(strings.Split("```\n$ benchmint no\n```\n```console\n$ benchmint check x\nx: holds\n$ benchmint status\n```\n", "\n"))
	want := []command{{args: []string{"check", "x"}, from: 4, want: []string{"x: holds"}}, {args: []string{"status"}, from: 6}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(command{})); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}
