package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/samples"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

// TestCases: faults that others reported of datasets like ours and of their graders, two samples
// of each kind. A case is a sample; its answers are graded as predictions. All are minted in one
// run and graded in one.
func TestCases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds environments")
	}
	b := &bench{kind: "bwrap", all: true, dir: t.TempDir()}
	b.env = append(needs(t, "bwrap"), "BENCHMINT_PROOF_HUNKS=0")
	if !*allSamples {
		b.env = append(b.env, "BENCHMINT_PROOF_RUNS=1")
	}
	of := slices.DeleteFunc(b.load(t, "case-"), func(s samples.Sample) bool { return s.Later && !*allSamples && *only == "" })
	if len(of) == 0 {
		t.Skip("-samples names none of these")
	}
	for i := range of {
		of[i].History = filled(of[i].History, time.Now())
	}
	d := b.mint(t, "cases", everything+twoAtOnce, of)
	graded := b.answers(t, d, of)
	ends := verdicts(t, d)
	if row, err := d.Row("sample__case-forms-python-1"); err == nil {
		t.Run("forms", func(t *testing.T) { b.forms(t, row) })
		t.Run("files", func(t *testing.T) { b.files(t, row) })
	}
	named := map[string]bool{} // packages
	for _, s := range of {
		for _, c := range s.Changes {
			for _, p := range c.Packages {
				named[p] = true
			}
		}
	}
	for _, s := range of {
		for _, c := range s.Changes {
			t.Run(fmt.Sprintf("%s/%d", s.Name, c.Number), func(t *testing.T) {
				if v, ok := ends[s.ID(c)]; !ok {
					t.Errorf("%s (%s) is neither a row nor a reject", s.ID(c), c.Shows)
				} else if c.End != samples.Done {
					rejected(t, d, s.ID(c), c)
				} else if v.End != samples.Done {
					t.Errorf("%s ended %s, want a row (%s)\n%s", s.ID(c), v.End, c.Shows, tail(v.Why))
				} else {
					inRow(t, d, s.ID(c), c, sortedKeys(named))
					if diff := cmp.Diff(c.Answers, graded[s.ID(c)]); diff != "" {
						t.Errorf("%s: verdicts on answers (-want +got):\n%s", c.Shows, diff)
					}
				}
			})
		}
	}
	if *allSamples {
		t.Run("another_order", func(t *testing.T) { b.another(t, d, of) })
	}
}

// another: a change ends in the same way where others stand before it.
func (b *bench) another(t *testing.T, d *output.Dataset, of []samples.Sample) {
	if err := os.RemoveAll(filepath.Join(b.dir, "repos")); err != nil {
		t.Fatal(err)
	}
	of = slices.DeleteFunc(slices.Clone(of), func(s samples.Sample) bool { return !strings.HasPrefix(s.Name, "case-repair-") })
	slices.Reverse(of)
	got := verdicts(t, b.mint(t, "order", everything+twoAtOnce, of))
	want := verdicts(t, d)
	maps.DeleteFunc(want, func(id string, _ verdict) bool { _, ok := got[id]; return !ok })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the other order (-want +got):\n%s", diff)
	}
}

// filled writes what a text of the tree may not hold: times of this run, a password and what
// looks like a key.
func filled(history []byte, now time.Time) []byte {
	return []byte(strings.NewReplacer(
		"@SOON@", strconv.FormatInt(now.AddDate(0, 0, 20).Unix(), 10),
		"@HOUR@", strconv.Itoa(now.UTC().Hour()),
		"@NEXT@", strconv.Itoa(now.UTC().Add(time.Hour).Hour()),
		"@USER@", "admin", "@PASSWORD@", "Xk7nQ2vRw9tLm4", "@KEY@", "AKIA"+"Q3EGJ7WLX5RT2BVN",
	).Replace(string(history)))
}

// rejected holds the reject of a change against what it has to name.
func rejected(t *testing.T, d *output.Dataset, id string, c samples.Change) {
	t.Helper()
	at := slices.IndexFunc(d.Rejects, func(r output.Reject) bool { return r.InstanceID == id })
	if at < 0 {
		t.Fatalf("%s is a row (%s)", id, c.Shows)
	}
	r := d.Rejects[at]
	if r.End != schemas.StepRejected || !strings.Contains(string(r.Reason)+" "+r.Detail, c.Says) {
		t.Errorf("%s: %s %s, want a reject that says %q: %s", c.Shows, r.End, r.Reason, c.Says, tail(r.Detail))
	}
	if c.NoEnvironment && !slices.Contains([]string{"crawl", "harvest", "link", "classify", "resolve"}, r.Stage) {
		t.Errorf("%s: it ended in %s, when its environment was built", c.Shows, r.Stage)
	}
}

// inRow holds the row of a change against its expectation.
func inRow(t *testing.T, d *output.Dataset, id string, c samples.Change, packages []string) {
	t.Helper()
	row, err := d.Row(id)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := d.Proof(id)
	if err != nil {
		t.Fatal(err)
	}
	got := samples.ListsOf(proof.Tests)
	for test, cause := range c.FailToPass {
		if _, ok := got.FailToPass[test]; ok && cause == "" {
			got.FailToPass[test] = ""
		}
	}
	want := samples.Lists{FailToPass: c.FailToPass, PassToPass: c.PassToPass}
	if diff := cmp.Diff(want, samples.Lists{FailToPass: got.FailToPass, PassToPass: got.PassToPass}); diff != "" {
		t.Errorf("%s: lists (-want +got):\n%s", c.Shows, diff)
	}
	for _, test := range c.Marked {
		at := slices.IndexFunc(proof.Tests, func(v schemas.TestVerdict) bool { return v.ID == test })
		said := []byte("nothing of it")
		if at >= 0 {
			if said, err = json.Marshal(proof.Tests[at]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Contains(said, []byte("clock")) {
			t.Errorf("%s: the proof does not say that %s hangs on the clock: %s", c.Shows, test, said)
		}
	}
	for _, f := range c.TestsHold {
		if !strings.Contains(row.TestPatch, " b/"+f+"\n") || strings.Contains(row.Patch, " b/"+f+"\n") {
			t.Errorf("%s: %s is not of the tests alone", c.Shows, f)
		}
	}
	for _, f := range c.SolutionHolds {
		if strings.Contains(row.TestPatch, " b/"+f+"\n") || !strings.Contains(row.Patch, " b/"+f+"\n") {
			t.Errorf("%s: %s is not of the solution alone", c.Shows, f)
		}
	}
	if v := row.Benchmint.Toolchain.Version; c.Toolchain != "" && v != c.Toolchain && !strings.HasPrefix(v, c.Toolchain+".") {
		t.Errorf("%s: it is proved with %s", c.Shows, v)
	}
	if c.Packages == nil {
		return
	}
	env, err := d.Environment(row)
	if err != nil {
		t.Fatal(err)
	}
	there := []string{}
	for _, p := range packages {
		if regexp.MustCompile(`(?im)^` + p + `==`).MatchString(env.Recipe.Lock) {
			there = append(there, p)
		}
	}
	if diff := cmp.Diff(c.Packages, there); diff != "" {
		t.Errorf("%s: packages of the environment (-want +got):\n%s", c.Shows, diff)
	}
}

// answers grades the answers of the samples to rows of a dataset, and gives the verdicts by
// instance and name.
func (b *bench) answers(t *testing.T, d *output.Dataset, of []samples.Sample) map[string]map[string]schemas.Verdict {
	t.Helper()
	var lines []string
	for _, s := range of {
		for _, c := range s.Changes {
			row, err := d.Row(s.ID(c))
			if err != nil {
				continue // it is said where it is compared
			}
			for name := range c.Answers {
				lines = append(lines, prediction(t, row.InstanceID, name, patchOf(t, filepath.Join(b.dir, "repos", s.Name), row.BaseCommit, s.Answer(c, name))))
			}
		}
	}
	out := map[string]map[string]schemas.Verdict{}
	if len(lines) == 0 {
		return out
	}
	for _, l := range b.graded(t, "cases", "answers", strings.Join(lines, "")) {
		if out[l.Instance] == nil {
			out[l.Instance] = map[string]schemas.Verdict{}
		}
		out[l.Instance][l.Model] = l.Verdict
	}
	return out
}

// prediction is a line of SWE-bench's predictions.
func prediction(t *testing.T, id, model, patch string) string {
	t.Helper()
	line, err := json.Marshal(map[string]string{"instance_id": id, "model_name_or_path": model, "model_patch": patch})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

// patchOf is what git writes for files over a base.
func patchOf(t *testing.T, repo, base string, files map[string][]byte) string {
	t.Helper()
	gitrepotest.Git(t, repo, "reset", "-q", "--hard", base)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(repo, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitrepotest.Git(t, repo, "add", "-A", "-f")
	return gitrepotest.Git(t, repo, "diff", "--cached", "--binary") + "\n"
}

// graded has the program grade a text of predictions.
func (b *bench) graded(t *testing.T, dataset, name, predictions string) []score.Line {
	t.Helper()
	file, out := filepath.Join(b.dir, name+".jsonl"), filepath.Join(b.dir, name)
	if err := os.WriteFile(file, []byte(predictions), 0o644); err != nil {
		t.Fatal(err)
	}
	code, said := b.run(t, "eval", dataset, file, "--output", out)
	text, err := os.ReadFile(filepath.Join(out, score.ResultsFile))
	if err != nil {
		t.Fatalf("benchmint eval: exit %d: %v\n%s", code, err, tail(said))
	}
	var lines []score.Line
	for dec := json.NewDecoder(bytes.NewReader(text)); dec.More(); {
		var l score.Line
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// forms: a right patch passes in each form that an agent writes it in. TestAnswer of internal/patch
// reads each of them; without -all-samples three are graded.
func (b *bench) forms(t *testing.T, row output.Row) {
	repo := filepath.Join(b.dir, "repos", "case-forms-python")
	files := strings.SplitAfter(strings.ReplaceAll(row.Patch, "diff --git", "\x00diff --git"), "\x00")[1:]
	if len(files) != 2 || !strings.HasSuffix(row.Patch, "\n \n") {
		t.Fatalf("the patch is not what the forms are made from:\n%s", row.Patch)
	}
	first, second := strings.TrimSuffix(files[0], "\x00"), files[1]
	blanks := regexp.MustCompile(`(?m)[ \t]+$`)
	forms := map[string]string{
		"two fences":                     "First the mark:\n\n```diff\n" + first + "```\n\nThen the width:\n\n```diff\n" + second + "```\n\nBoth are needed.\n",
		"one fence, unfinished":          "```diff\n" + row.Patch,
		"fences of another kind":         "~~~patch\n" + row.Patch + "~~~\n",
		"tags of a prompt":               "<patch>\n" + row.Patch + "</patch>\n",
		"a series of mails":              series(t, repo, row.BaseCommit),
		"ends of the whole text lost":    strings.TrimSpace(row.Patch),
		"blanks before line ends lost":   blanks.ReplaceAllString(row.Patch, ""),
		"a byte order mark":              "\ufeff" + row.Patch,
		"a byte order mark in a fence":   "```diff\n\ufeff" + row.Patch + "```\n",
		"the last line end lost, fenced": "```diff\n" + strings.TrimRight(row.Patch, " \n") + "\n```",
	}
	if !*allSamples {
		maps.DeleteFunc(forms, func(name, _ string) bool {
			return name != "two fences" && name != "tags of a prompt" && name != "a series of mails"
		})
	}
	var lines strings.Builder
	want, got, why := map[string]schemas.Verdict{}, map[string]schemas.Verdict{}, map[string]string{}
	for name, patch := range forms {
		want[name] = schemas.VerdictPass
		lines.WriteString(prediction(t, row.InstanceID, name, patch))
	}
	for _, l := range b.graded(t, "cases", "forms", lines.String()) {
		got[l.Model], why[l.Model] = l.Verdict, l.Detail
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s\n%v", diff, why)
	}
}

// series is an answer of two commits, of which the second changes what the first changed.
func series(t *testing.T, repo, base string) string {
	t.Helper()
	const pad = "def pad(text, width):\n    out = %s\n\n    return out\n\n\ndef long(text):\n    return len(text) > 9\n"
	gitrepotest.Git(t, repo, "reset", "-q", "--hard", base)
	for _, c := range []struct{ subject, file, text string }{
		{"Pad texts", "forms/pad.py", fmt.Sprintf(pad, `text + " "`)},
		{"Mark ends", "forms/__init__.py", "from forms.pad import pad\n\nMARK = \".\"\n\n\ndef line(text, width=0):\n    return pad(text, width) + MARK\n"},
		{"Pad texts to a width", "forms/pad.py", fmt.Sprintf(pad, `text + " " * (width - len(text))`)},
	} {
		if err := os.WriteFile(filepath.Join(repo, c.file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		gitrepotest.Git(t, repo, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-a", "-m", c.subject)
	}
	return gitrepotest.Git(t, repo, "format-patch", "--stdout", base) + "\n"
}

// files: files of predictions as other programs write them, each with a right patch. What is
// not read as it is meant is refused, and its key named.
func (b *bench) files(t *testing.T, row output.Row) {
	patch, err := json.Marshal(row.Patch)
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("@ID@", row.InstanceID, "@PATCH@", string(patch))
	pass := func(models ...string) []string { return models }
	for _, f := range []struct {
		name, text string
		models     []string // those that pass; nil: one, of any name
	}{
		{"two_models_in_a_list", `[{"instance_id": "@ID@", "model_name_or_path": "big/model", "model_patch": @PATCH@},
			{"instance_id": "@ID@", "model_name_or_path": "small/model", "model_patch": @PATCH@}]`, pass("big/model", "small/model")},
		{"numbers_of_pandas", `{"instance_id": "@ID@", "model_name_or_path": "m", "model_patch": @PATCH@, "total_tokens": 1234.0, "cost": NaN, "score": -Infinity}
{"instance_id": "@ID@", "model_name_or_path": "n", "model_patch": @PATCH@, "total_tokens": NaN, "cost": 0.25}`, pass("m", "n")},
		{"a_byte_order_mark", "\ufeff" + `{"instance_id": "@ID@", "model_name_or_path": "m", "model_patch": @PATCH@}`, pass("m")},
		{"openhands", `{"instance_id": "@ID@", "test_result": {"git_patch": @PATCH@}, "instruction": "Do it.", "metadata": {"agent_class": "CodeActAgent",
			"llm_config": {"model": "openai/some-model", "temperature": 0.0}}, "history": [], "metrics": {"accumulated_cost": 0.5}, "error": null}`, nil},
		{"multi_swe_bench", `{"org": "sample", "repo": "case-forms-python", "number": 1, "fix_patch": @PATCH@}`, nil},
	} {
		t.Run(f.name, func(t *testing.T) {
			text := fill.Replace(f.text)
			if f.models == nil || !strings.HasPrefix(text, "[") {
				text = strings.ReplaceAll(text, ",\n\t\t\t", ", ")
			}
			got := b.graded(t, "cases", "file-"+f.name, text+"\n")
			var models []string
			for _, l := range got {
				if l.Verdict == schemas.VerdictPass {
					models = append(models, l.Model)
				}
			}
			slices.Sort(models)
			if f.models == nil && len(models) == 1 {
				return
			}
			if diff := cmp.Diff(f.models, models); diff != "" || len(got) != len(models) {
				t.Errorf("%d results; models that pass (-want +got):\n%s", len(got), diff)
			}
		})
	}
}
