package output

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/schemas"
)

// Rule names a lint.
type Rule string

// The rules of a folder; those of a row are in lint.go.
const (
	RuleSyntax      Rule = "syntax"
	RuleMissingFile Rule = "missing_file"
	RuleExtraFile   Rule = "extra_file"
	RuleDigest      Rule = "digest"
	RuleCount       Rule = "count"
	RuleDuplicate   Rule = "duplicate_id"
	RuleOrder       Rule = "order"
	RuleReject      Rule = "reject"
	RuleTrees       Rule = "trees"
	RuleFolder      Rule = "task_folder"
	RuleProof       Rule = "proof"
)

// Finding is one thing that is wrong, and where.
type Finding struct {
	File     string `json:"file"` // relative to the folder
	Line     int    `json:"line,omitempty"`
	Instance string `json:"instance_id,omitempty"`
	Rule     Rule   `json:"rule"`
	Message  string `json:"message"`
}

func (f Finding) String() string {
	where := f.File
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if f.Instance != "" {
		where += ": " + f.Instance
	}
	return fmt.Sprintf("%s: %s: %s", where, f.Rule, f.Message)
}

// Check lints a dataset's folder and every row in it; nothing is run. An error
// means that there is no dataset to lint. Findings come in order of place.
func Check(dir string) ([]Finding, error) {
	d, findings, err := load(dir)
	if err != nil {
		return nil, err
	}
	c := checker{d: d, findings: findings}
	c.files()
	c.counts()
	c.ids()
	c.rejects()
	for _, r := range d.Rows {
		c.row(r)
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Instance, b.Instance), strings.Compare(string(a.Rule), string(b.Rule)), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(c.findings), nil
}

type checker struct {
	d        *Dataset
	findings []Finding
}

func (c *checker) add(file string, rule Rule, format string, args ...any) {
	c.findings = append(c.findings, Finding{File: file, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) addRow(r Located, rule Rule, format string, args ...any) {
	c.findings = append(c.findings, Finding{File: r.File, Line: r.Line, Instance: r.InstanceID, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// files compares the folder with the manifest, both ways.
func (c *checker) files() {
	for _, name := range slices.Sorted(maps.Keys(c.d.Manifest.Files)) {
		info := c.d.Manifest.Files[name]
		if !filepath.IsLocal(name) {
			c.add(ManifestFile, RuleSyntax, "%q leaves the folder", name)
			continue
		}
		b, err := os.ReadFile(filepath.Join(c.d.Dir, filepath.FromSlash(name)))
		switch {
		case err != nil:
			c.add(name, RuleMissingFile, "in the manifest: %s", cause(err))
		case int64(len(b)) != info.Size:
			c.add(name, RuleDigest, "%d bytes; the manifest says %d", len(b), info.Size)
		case schemas.DigestBytes(b) != info.SHA256:
			c.add(name, RuleDigest, "its bytes are %s; the manifest says %s", schemas.DigestBytes(b).Short(), info.SHA256.Short())
		}
	}
	err := filepath.WalkDir(c.d.Dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.d.Dir, p)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		switch _, known := c.d.Manifest.Files[name]; {
		case name == ".":
		case path.Dir(name) == "." && strings.HasPrefix(name, "."): // .git, .gitattributes: the user's own
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir(), known && e.Type().IsRegular(), name == ManifestFile, name == TimingsFile:
		case known:
			c.add(name, RuleExtraFile, "it is no regular file")
		default:
			c.add(name, RuleExtraFile, "the manifest does not name it")
		}
		return nil
	})
	if err != nil {
		c.add(".", RuleMissingFile, "walking the folder: %s", cause(err))
	}
}

func (c *checker) counts() {
	var got Counts
	got.Tasks = len(c.d.Rows)
	for _, r := range c.d.Rejects {
		switch r.End {
		case schemas.StepRejected:
			got.Rejected++
		case schemas.StepDeferred:
			got.Deferred++
		case schemas.StepFailed:
			got.Failed++
		}
	}
	want := c.d.Manifest.Counts
	for _, x := range []struct {
		name      string
		got, want int
		file      string
	}{
		{"tasks", got.Tasks, want.Tasks, dataPath(c.d.Manifest.Split)},
		{"rejected", got.Rejected, want.Rejected, RejectsFile},
		{"deferred", got.Deferred, want.Deferred, RejectsFile},
		{"failed", got.Failed, want.Failed, RejectsFile},
	} {
		if x.got != x.want {
			c.add(ManifestFile, RuleCount, "counts.%s is %d; %s holds %d", x.name, x.want, x.file, x.got)
		}
	}
}

// ids: unique without regard to case, since a folder is named by each.
func (c *checker) ids() {
	seen := map[string]Located{}
	for i, r := range c.d.Rows {
		fold := strings.ToLower(r.InstanceID)
		if first, ok := seen[fold]; ok {
			c.addRow(r, RuleDuplicate, "line %d holds %s", first.Line, first.InstanceID)
		} else {
			seen[fold] = r
		}
		if i > 0 && r.InstanceID < c.d.Rows[i-1].InstanceID {
			c.addRow(r, RuleOrder, "it stands after %s", c.d.Rows[i-1].InstanceID)
		}
	}
	for i, r := range c.d.Rejects {
		if row, ok := seen[strings.ToLower(r.InstanceID)]; ok {
			c.findings = append(c.findings, Finding{File: RejectsFile, Line: i + 1, Instance: r.InstanceID, Rule: RuleDuplicate,
				Message: fmt.Sprintf("it is a task, too: %s:%d", row.File, row.Line)})
		}
	}
	entries, err := os.ReadDir(filepath.Join(c.d.Dir, TasksDir))
	if err != nil {
		return // an empty dataset has none; missing files are reported by name
	}
	for _, e := range entries {
		if r, ok := seen[strings.ToLower(e.Name())]; !ok || r.InstanceID != e.Name() {
			c.add(path.Join(TasksDir, e.Name()), RuleFolder, "no row of this ID")
		}
	}
}

func (c *checker) rejects() {
	known := map[schemas.Reason]bool{}
	var words []string
	for _, r := range schemas.Reasons {
		known[r.Reason] = true
		words = append(words, string(r.Reason))
	}
	for i, r := range c.d.Rejects {
		add := func(format string, args ...any) {
			c.findings = append(c.findings, Finding{File: RejectsFile, Line: i + 1, Instance: r.InstanceID, Rule: RuleReject, Message: fmt.Sprintf(format, args...)})
		}
		switch r.End {
		case schemas.StepRejected:
			if !known[r.Reason] {
				add("reason %q is not in the table%s", r.Reason, nearest.Hint(string(r.Reason), words))
			}
		case schemas.StepDeferred, schemas.StepFailed:
			if r.Detail == "" {
				add("%s without a detail", r.End)
			}
		default:
			add("end %q is none of rejected, deferred, failed", r.End)
		}
		if r.InstanceID == "" || r.Stage == "" {
			add("instance_id and stage must not be empty")
		}
	}
}

// row lints the row by itself, then against its folder, its trees and its proof.
func (c *checker) row(r Located) {
	for _, f := range Lint(r.Row) {
		f.File, f.Line = r.File, r.Line
		c.findings = append(c.findings, f)
	}
	if _, _, _, err := c.d.States(r.Row); err != nil {
		c.addRow(r, RuleTrees, "%v", err)
	}
	c.folder(r)
	proof, err := c.d.Proof(r.InstanceID)
	if err != nil {
		c.addRow(r, RuleProof, "%v", err)
		return
	}
	for _, m := range disagreements(r.Row, proof) {
		c.addRow(r, RuleProof, "%s", m)
	}
}

// folder: what the task's folder repeats of the row is the same.
func (c *checker) folder(r Located) {
	dir := path.Join(TasksDir, r.InstanceID)
	for _, f := range []struct {
		name string
		want func() ([]byte, error)
	}{
		{StatementFile, func() ([]byte, error) { return []byte(r.ProblemStatement), nil }},
		{GoldFile, r.GoldPatch},
		{TestFile, r.Tests},
	} {
		b, err := os.ReadFile(filepath.Join(c.d.Dir, filepath.FromSlash(path.Join(dir, f.name))))
		if err != nil {
			c.addRow(r, RuleFolder, "%s: %s", path.Join(dir, f.name), cause(err))
			continue
		}
		if want, err := f.want(); err == nil && string(want) != string(b) {
			c.addRow(r, RuleFolder, "%s is not what the row holds", path.Join(dir, f.name))
		}
	}
	env, err := c.d.Environment(r.Row)
	if err != nil {
		c.addRow(r, RuleFolder, "%v", err)
	} else if hostPath.MatchString(string(mustJSON(env.Recipe))) {
		c.addRow(r, RuleHost, "%s holds %s", path.Join(dir, RecipeFile), hostPath.FindString(string(mustJSON(env.Recipe))))
	}
	start, err := c.d.Start(r.InstanceID)
	switch {
	case err != nil:
		c.addRow(r, RuleFolder, "%v", err)
	case start.ID() != r.InstanceID, start.BaseTree != r.Benchmint.Trees.Base, start.StartTree != r.Benchmint.Trees.Start, start.SolutionTree != r.Benchmint.Trees.Solution, start.Base != r.BaseCommit:
		c.addRow(r, RuleFolder, "%s is of another task or other trees", path.Join(dir, StartFile))
	}
	for _, name := range []string{DockerfileFile, RunFile} {
		if _, err := os.Stat(filepath.Join(c.d.Dir, filepath.FromSlash(path.Join(dir, name)))); err != nil {
			c.addRow(r, RuleFolder, "%s: %s", path.Join(dir, name), cause(err))
		}
	}
}

// disagreements are the fields of a row that its proof does not bear out.
func disagreements(r Row, p schemas.Proof) []string {
	var out []string
	say := func(key string, row, proof []string) {
		if !slices.Equal(slices.Sorted(slices.Values(row)), slices.Sorted(slices.Values(proof))) {
			out = append(out, fmt.Sprintf("%s has %d tests, the proof %d%s", key, len(row), len(proof), firstDifference(row, proof)))
		}
	}
	if p.StartID != r.InstanceID {
		out = append(out, fmt.Sprintf("the proof is of %s", p.StartID))
	}
	if p.Environment != r.Benchmint.Environment {
		out = append(out, fmt.Sprintf("the proof is of environment %s, the row says %s", p.Environment.Short(), r.Benchmint.Environment.Short()))
	}
	e := r.Benchmint
	say("FAIL_TO_PASS", r.FailToPass, p.List(schemas.F2P))
	say("PASS_TO_PASS", r.PassToPass, p.List(schemas.P2P))
	say("skip_to_pass", e.SkipToPass, p.List(schemas.SkipToPass))
	say("quarantined", e.Quarantined, p.List(schemas.Quarantined))
	say("vanished", e.Vanished, p.List(schemas.Vanished))
	say("unstable_ids", e.UnstableIDs, p.List(schemas.UnstableID))
	say("baseline_b", e.BaselineB, baselineB(p))
	if !maps.Equal(e.Causes, causes(p)) {
		out = append(out, "causes are not those of the proof")
	}
	if regressions := p.List(schemas.Regression); len(regressions) > 0 {
		out = append(out, fmt.Sprintf("the proof holds a regression: %s", regressions[0]))
	}
	if string(mustJSON(e.Interface)) != string(mustJSON(some(p.Interface))) {
		out = append(out, "interface is not that of the proof")
	}
	if string(mustJSON(e.Leaks)) != string(mustJSON(p.Leaks)) {
		out = append(out, "leaks are not those of the proof")
	}
	return out
}

func firstDifference(a, b []string) string {
	for _, x := range a {
		if !slices.Contains(b, x) {
			return fmt.Sprintf(": the proof lacks %q", x)
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			return fmt.Sprintf(": the row lacks %q", x)
		}
	}
	return ": one stands there twice"
}

// mustJSON is for plain records that were just read from JSON.
func mustJSON(v any) []byte {
	b, err := schemas.Canonical(v)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}
