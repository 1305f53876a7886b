// Package e2e runs the program as a user does, over every sample under
// testdata/samples and in both sandboxes, and compares what comes out with what
// was written by hand beside each sample.
//
// It never looks into the program: it reads the dataset that a run leaves.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/samples"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

const samplesDir = "../testdata/samples"

var (
	only       = flag.String("samples", "", "only samples with this in their names, for work on one of them")
	allSamples = flag.Bool("all-samples", false, "every change of every sample in both sandboxes, and which hunks its tests notice")
)

// gateSamples are the changes that each sandbox runs without -all-samples. bwrap has one change
// for each end and for each way in which tests do not load; of the attacks one for each limit, in
// one language. docker has what a sandbox itself does: files that are no text, a build with the
// network, a run without it, and the other limits. One code reads the reports of both.
var gateSamples = map[string]map[string][]int{
	"bwrap": {
		"golden-python": {3, 6, 8, 10, 11, 14}, "golden-python-start": {2}, "golden-python-suite": {3}, "golden-python-tags": {1},
		"golden-go": {3, 6, 13}, "golden-go-start": {1},
		"hostile-python": {1, 3, 5, 9, 10},
	},
	"docker": {
		"golden-python": {11}, "hostile-python": {2, 4, 6},
	},
}

// taken gives what the sandbox runs of a sample.
func (b *bench) taken(s samples.Sample) (samples.Sample, bool) {
	if !strings.Contains(s.Name, *only) {
		return s, false
	}
	if b.all {
		return s, true
	}
	numbers, ok := gateSamples[b.kind][s.Name]
	s.Changes = slices.DeleteFunc(s.Changes, func(c samples.Change) bool { return !slices.Contains(numbers, c.Number) })
	return s, ok
}

// program is built once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "benchmint-e2e-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "benchmint")
	out, err := exec.Command("go", "build", "-o", path, "../cmd/benchmint").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
})

// built is the folder of the program, "" where no test asked for it.
var built string

func TestMain(m *testing.M) {
	code := dockertest.Main(m)
	if built != "" {
		if err := os.RemoveAll(built); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// bench is one sandbox kind with what its runs share.
type bench struct {
	kind string
	all  bool // take every sample
	env  []string
	dir  string            // repositories, configurations, stores and datasets of this kind
	raw  func(repo string) // adds to a sample's repository, if not nil
}

// run runs the program and gives its exit code with all that it said.
func (b *bench) run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	t.Logf("%s: benchmint %s: %.1f s", b.kind, strings.Join(args, " "), time.Since(began).Seconds())
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), out.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, out.String()
}

// must is run that ends with 0.
func (b *bench) must(t *testing.T, args ...string) string {
	t.Helper()
	code, out := b.run(t, args...)
	if code != 0 {
		t.Fatalf("benchmint %s: exit %d\n%s", strings.Join(args, " "), code, tail(out))
	}
	return out
}

func tail(s string) string {
	const most = 6000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// everything lets each change come to its proof, whatever shape it has and however
// little is said of it.
const everything = "filters: {modifies_only: false, labels: [feature, improvement, fix, other], thin: true}\n"

// twoAtOnce is for samples that neither measure time nor meet a limit.
const twoAtOnce = "proof: {parallel: 2}\n"

// mint runs the samples through the pipeline in one run, as one dataset.
func (b *bench) mint(t *testing.T, name, filters string, of []samples.Sample) *output.Dataset {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "dataset: %s\nsources:\n", name)
	limits := map[string]string{"memory": "2GiB", "timeout": "10m"}
	for _, s := range of {
		repo := filepath.Join(b.dir, "repos", s.Name)
		if err := s.Build(repo); err != nil {
			t.Fatal(err)
		}
		if b.raw != nil {
			b.raw(repo)
		}
		only := strings.Join(strings.Fields(fmt.Sprint(s.Numbers())), ", ")
		fmt.Fprintf(&text, "  - git: %s\n    name: %s\n    only: %s\n", repo, s.Repository, only)
		for k, v := range s.Sandbox {
			limits[k] = v
		}
	}
	text.WriteString(filters)
	fmt.Fprintf(&text, "sandbox:\n  kind: %s\n", b.kind)
	for _, k := range sortedKeys(limits) {
		fmt.Fprintf(&text, "  %s: %s\n", k, limits[k])
	}
	fmt.Fprintf(&text, "store: %s-state\noutput: %s\n", name, name)
	if err := os.WriteFile(filepath.Join(b.dir, name+".yaml"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	// A run with failed items still has a dataset to look at.
	if code, out := b.run(t, "run", "-c", name+".yaml"); code != 0 {
		t.Errorf("benchmint run -c %s.yaml: exit %d\n%s", name, code, tail(out))
	}
	return b.read(t, name)
}

func (b *bench) read(t *testing.T, name string) *output.Dataset {
	t.Helper()
	d, err := output.Read(filepath.Join(b.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// verdict is the end of one change as the dataset tells it.
type verdict struct {
	End   string
	Why   string // of a reject: the detail, for the reader of a failure
	Lists samples.Lists
}

func verdicts(t *testing.T, d *output.Dataset) map[string]verdict {
	t.Helper()
	out := map[string]verdict{}
	for _, r := range d.Rows {
		proof, err := d.Proof(r.InstanceID)
		if err != nil {
			t.Fatal(err)
		}
		lists := samples.ListsOf(proof.Tests)
		if diff := cmp.Diff(sorted(r.FailToPass), sortedKeys(lists.FailToPass)); diff != "" {
			t.Errorf("%s: FAIL_TO_PASS of row and proof differ:\n%s", r.InstanceID, diff)
		}
		if diff := cmp.Diff(sorted(r.PassToPass), sorted(lists.PassToPass)); diff != "" {
			t.Errorf("%s: PASS_TO_PASS of row and proof differ:\n%s", r.InstanceID, diff)
		}
		out[r.InstanceID] = verdict{End: samples.Done, Lists: lists}
	}
	for _, r := range d.Rejects {
		end := string(r.Reason)
		if r.End != schemas.StepRejected {
			end = string(r.End)
		}
		out[r.InstanceID] = verdict{End: end, Why: r.Detail}
	}
	return out
}

func sorted(l []string) []string { return slices.Sorted(slices.Values(l)) }

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return sorted(keys)
}

// compare holds every change of the samples against the dataset, which has no others.
func compare(t *testing.T, d *output.Dataset, of []samples.Sample) {
	t.Helper()
	for id, v := range compareAsked(t, d, of) {
		t.Errorf("%s (%s) was not asked for", id, v.End)
	}
}

// compareAsked holds every change of the samples against the dataset, and gives the others.
func compareAsked(t *testing.T, d *output.Dataset, of []samples.Sample) map[string]verdict {
	t.Helper()
	got := verdicts(t, d)
	for _, s := range of {
		for _, c := range s.Changes {
			t.Run(fmt.Sprintf("%s/%d", s.Name, c.Number), func(t *testing.T) {
				v, ok := got[s.ID(c)]
				if !ok {
					t.Fatalf("%s (%s) is neither a row nor a reject", s.ID(c), c.Shows)
				}
				if v.End != c.End {
					t.Errorf("%s ended %s, want %s (%s)\n%s", s.ID(c), v.End, c.End, c.Shows, tail(v.Why))
				}
				if diff := cmp.Diff(c.Lists, v.Lists); diff != "" {
					t.Errorf("%s: lists (-want +got):\n%s", c.Shows, diff)
				}
			})
			delete(got, s.ID(c))
		}
	}
	return got
}

// kinds are the sandboxes, each in its own process and folder.
func kinds(t *testing.T, test func(t *testing.T, b *bench)) {
	for _, kind := range []string{"bwrap", "docker"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := &bench{kind: kind, all: *allSamples, env: needs(t, kind), dir: t.TempDir()}
			if !*allSamples {
				// Nothing here looks at which hunks tests notice. The tour of the README does,
				// and stages/assess does in each language. Repetition is for TestFlaky.
				b.env = append(slices.Clone(b.env), "BENCHMINT_PROOF_HUNKS=0", "BENCHMINT_PROOF_RUNS=1")
			}
			test(t, b)
		})
	}
}

// load gives the samples whose names begin with one of the prefixes.
func (b *bench) load(t *testing.T, prefixes ...string) []samples.Sample {
	t.Helper()
	all, err := samples.Load(samplesDir)
	if err != nil {
		t.Fatal(err)
	}
	var out []samples.Sample
	for _, prefix := range prefixes {
		there := false
		for _, s := range all {
			if !strings.HasPrefix(s.Name, prefix) {
				continue
			}
			there = true
			if s, ok := b.taken(s); ok {
				out = append(out, s)
			}
		}
		if !there {
			t.Fatalf("no sample %s*", prefix)
		}
	}
	return out
}

// TestGateSamples: what each sandbox is to run is there, and bwrap has every end and every cause
// that a golden sample has, and both together those of hostile ones, but for what only
// -all-samples runs.
func TestGateSamples(t *testing.T) {
	t.Parallel()
	if *only != "" {
		t.Skip("-samples leaves some out")
	}
	for kind, want := range gateSamples {
		got := map[string][]int{}
		for _, s := range (&bench{kind: kind}).load(t, "golden-", "hostile-") {
			got[s.Name] = s.Numbers()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changes of %s (-want +got):\n%s", kind, diff)
		}
	}
	shows := func(of []samples.Sample) map[string]bool {
		out := map[string]bool{}
		for _, s := range of {
			for _, c := range s.Changes {
				out[c.End] = true
				for _, cause := range c.FailToPass {
					out[string(cause)] = true
				}
				for list, tests := range map[string][]string{"a skipped test": c.SkipToPass, "a vanished test": c.Vanished, "an unstable name": c.UnstableID} {
					if len(tests) > 0 {
						out[list] = true
					}
				}
			}
		}
		return out
	}
	gate := shows(append((&bench{kind: "bwrap"}).load(t, "golden-", "hostile-"), (&bench{kind: "docker"}).load(t, "hostile-")...))
	for what := range shows((&bench{all: true}).load(t, "golden-", "hostile-python", "hostile-go")) {
		if !gate[what] && what != "" {
			t.Errorf("no sample of the gate ends in or shows %s", what)
		}
	}
}

// TestFlaky: tests that do not pass each time leave the lists. Python has such a change in its
// golden sample, which -all-samples runs.
func TestFlaky(t *testing.T) {
	t.Parallel()
	b := &bench{kind: "bwrap", all: true, env: append(needs(t, "bwrap"), "BENCHMINT_PROOF_HUNKS=0"), dir: t.TempDir()}
	flaky := b.load(t, "golden-go-flaky")
	compare(t, b.mint(t, "flaky", everything, flaky), flaky)
}

// Golden and hostile samples, then what holds of any dataset: it checks, a second
// run changes nothing, and its rows can be proved again from themselves alone.
func TestSamples(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, b *bench) {
		t.Run("golden", func(t *testing.T) {
			golden := b.load(t, "golden-")
			compare(t, b.mint(t, "golden", everything+twoAtOnce, golden), golden)
			if b.kind == "docker" && !*allSamples {
				return // what holds of any dataset is held to bubblewrap's
			}
			t.Run("check", func(t *testing.T) { b.must(t, "check", "golden") })
			t.Run("again", func(t *testing.T) { b.again(t) })
			t.Run("prove", func(t *testing.T) { b.prove(t) })
		})
		t.Run("hostile", func(t *testing.T) {
			// After golden: its environments are there, so that the short time limit
			// falls on the runs and not on a first build.
			hostile := b.load(t, "hostile-python", "hostile-go")
			compare(t, b.mint(t, "hostile", everything, hostile), hostile)
		})
		if *allSamples {
			t.Run("demo", func(t *testing.T) { // TestReadme compares it in bubblewrap
				demo := b.load(t, "demo-")
				compare(t, b.mint(t, "demo", "", demo), demo)
			})
			t.Run("cache", func(t *testing.T) { // TestCaches compares them in bubblewrap
				cache := b.load(t, "hostile-cache-")
				compare(t, b.mint(t, "cache", everything, cache), cache)
			})
		}
	})
}

// again: a second run over a settled store makes the same bytes.
func (b *bench) again(t *testing.T) {
	before := digests(t, filepath.Join(b.dir, "golden"))
	b.must(t, "run", "-c", "golden.yaml")
	if diff := cmp.Diff(before, digests(t, filepath.Join(b.dir, "golden"))); diff != "" {
		t.Errorf("a second run changed the dataset:\n%s", diff)
	}
}

// digests is what stands in every file of a dataset but the measured times.
func digests(t *testing.T, dir string) map[string]schemas.Digest {
	t.Helper()
	out := map[string]schemas.Digest{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "timings.jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = schemas.DigestBytes(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 10 {
		t.Fatalf("only %d files in %s", len(out), dir)
	}
	return out
}

// prove: rows are enough; the repositories and the store are gone.
func (b *bench) prove(t *testing.T) {
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(filepath.Join(b.dir, "repos"), away); err != nil {
		t.Fatal(err)
	}
	again := provedAgain
	if !*allSamples {
		again = again[:2]
	}
	var ids []string
	for _, r := range b.read(t, "golden").Rows {
		if slices.Contains(again, r.InstanceID) {
			ids = append(ids, r.InstanceID)
		}
	}
	var want []string
	for _, s := range b.load(t, "golden-") {
		for _, c := range s.Changes {
			if slices.Contains(again, s.ID(c)) {
				want = append(want, s.ID(c))
			}
		}
	}
	if len(ids) != len(want) {
		t.Fatalf("rows %v, want %v", ids, want)
	}
	b.must(t, append([]string{"prove", "golden"}, ids...)...)
}

// provedAgain are rows of each language: patches that are no text, a version from tags, a program
// that ends early, a dependency, a session that does not start, a test command that took another's
// place. Without -all-samples one row of each language is proved.
var provedAgain = []string{
	"sample__golden-python-11", "sample__golden-go-13",
	"sample__golden-python-1", "sample__golden-python-tags-1", "sample__golden-go-1", "sample__golden-go-6",
	"sample__golden-python-start-1", "sample__golden-python-suite-2",
}
