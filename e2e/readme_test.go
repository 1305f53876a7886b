package e2e

import (
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

var update = flag.Bool("update", false, "write what the README's commands print into the README")

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

// command is one "$ benchmint …" of the README with the lines that it shows.
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

// The demo runs as `make demo` runs it: each change ends as is written beside the samples.
// Then every command of the README's tour prints what the README shows.
func TestReadme(t *testing.T) {
	t.Parallel()
	const readme = "../README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	tour := commands(lines)
	if len(tour) < 5 {
		t.Fatalf("only %d commands found in the README", len(tour))
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
	for _, c := range slices.Backward(tour) { // from the end, so that line numbers hold
		got := strings.Split(strings.TrimRight(b.must(t, c.args...), "\n"), "\n")
		if c.args[0] == "run" { // what the demo printed is what a first run says
			got = between(string(out), "$ benchmint run -c benchmint.yaml\n", "\n\n$ ")
			// What runs is said where a machine is slow.
			got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "  ") })
		}
		if *update {
			lines = slices.Replace(lines, c.from+1, c.from+1+len(c.want), got...)
			continue
		}
		want := c.want
		if c.args[0] == "run" { // items end in the order of work, which is the machine's
			want, got = sorted(want), sorted(got)
		}
		if diff := cmp.Diff(steady(strings.Join(want, "\n")), steady(strings.Join(got, "\n"))); diff != "" {
			t.Errorf("README.md:%d: benchmint %s prints something else (-README +now); go test ./e2e -run TestReadme -update:\n%s", c.from+1, strings.Join(c.args, " "), diff)
		}
	}
	if *update {
		if err := os.WriteFile(readme, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
