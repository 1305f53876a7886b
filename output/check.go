package output

import (
	"cmp"
	"fmt"
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
	RuleParquet     Rule = "parquet"
	RuleConfig      Rule = "configuration"
	RuleStatistics  Rule = "statistics"
	RuleCard        Rule = "card"
	RulePlots       Rule = "plots"
	RuleFlakes      Rule = "flakes"
	RuleImage       Rule = "image_key"
	RuleAdequacy    Rule = "adequacy"
	RulePackages    Rule = "packages"
	RuleBalance     Rule = "balance"
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
func Check(dir string) ([]Finding, error) { return CheckEach(dir, func(int, int) {}) }

// CheckEach is Check that says of how many rows it has looked at how many.
func CheckEach(dir string, say func(n, of int)) ([]Finding, error) {
	d, findings, err := load(dir)
	if err != nil {
		return nil, err
	}
	c := checker{d: d, findings: findings}
	sums := c.files()
	c.packages(sums)
	c.counts()
	c.ids()
	c.rejects()
	for _, s := range d.Manifest.Splits {
		c.parquet(s.Name)
	}
	c.card(sums)
	flaky := c.flakes()
	for i, r := range d.Rows {
		say(i+1, len(d.Rows))
		c.row(r)
		c.flakesOf(r, flaky)
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

func (c *checker) counts() {
	var got Counts
	got.Tasks = len(c.d.Rows)
	rows := map[string]int{}
	for _, r := range c.d.Rows {
		rows[r.File]++
	}
	for i, s := range c.d.Manifest.Splits {
		if file := dataPath(s.Name); rows[file] != s.Tasks {
			c.add(ManifestFile, RuleCount, "splits[%d].tasks is %d; %s holds %d", i, s.Tasks, file, rows[file])
		}
	}
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
		{"tasks", got.Tasks, want.Tasks, DataDir + "/"},
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
		if i > 0 && r.File == c.d.Rows[i-1].File && r.InstanceID < c.d.Rows[i-1].InstanceID {
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
			add("unknown end %q (known: rejected, deferred, failed)", r.End)
		}
		if m := refusal(r); m != "" {
			add("%s", m)
		}
		if r.InstanceID == "" || r.Stage == "" {
			add("instance_id and stage must not be empty")
		}
	}
}
