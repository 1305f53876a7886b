// Package samples reads the sample histories under testdata/samples and what is
// to be expected of them, for the end-to-end tests and for `make demo`.
//
// It never runs anything of a sample, and never decides a verdict: each
// expectation is written by hand beside its history.
package samples

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Done is the end of a change that becomes a row; others end with a reason. Rejected is any
// reason: where it is not the sample's to say which, Says is what the reject has to name.
const (
	Done     = "done"
	Rejected = "rejected"
)

const expectFile = "expect.json"

// Sample is one history with its expectation.
type Sample struct {
	Name    string // file name without .txtar
	History []byte // for gitrepotest
	Expectation
}

// Expectation is the expect.json of a sample.
type Expectation struct {
	// Repository is the owner/name that its IDs are made from.
	Repository string `json:"repository"`
	Language   string `json:"language"`
	// Sandbox overrides keys of the configuration's sandbox section.
	Sandbox map[string]string `json:"sandbox,omitempty"`
	// Later leaves the sample to `make soak`.
	Later bool `json:"later,omitempty"`
	// Sets are lists that changes name as "@set".
	Sets    map[string][]string `json:"sets,omitempty"`
	Changes []Change            `json:"changes"`
}

// Change is what one change must end as.
type Change struct {
	Number int    `json:"number"`
	Shows  string `json:"shows"`
	End    string `json:"end"` // Done, a schemas.Reason or Rejected
	Says   string `json:"says,omitempty"`
	Lists
	// Marked are tests of which a row names the clock.
	Marked []string `json:"marked,omitempty"`
	// TestsHold and SolutionHolds are files of the row's test_patch and patch.
	TestsHold     []string `json:"tests_hold,omitempty"`
	SolutionHolds []string `json:"solution_holds,omitempty"`
	// Toolchain begins the version of the row's; "" where the sample does not say.
	Toolchain string `json:"toolchain,omitempty"`
	// Packages are, of those that some change of the samples names, what the environment has;
	// nil where the sample does not say.
	Packages []string `json:"packages"`
	// NoEnvironment is of a change that ends before its environment is built.
	NoEnvironment bool `json:"no_environment,omitempty"`
	// Answers are the verdicts on answers, by name. An answer is the files of
	// answers/NUMBER/NAME/ before the first commit, over the base.
	Answers map[string]schemas.Verdict `json:"answers,omitempty"`
}

// Lists are the tests of a verdict by what became of them. A list that an
// expectation leaves out is expected to be empty; of cases a cause "" is any.
type Lists struct {
	FailToPass   map[string]schemas.Cause `json:"fail_to_pass,omitempty"`
	PassToPass   []string                 `json:"pass_to_pass,omitempty"`
	SkipToPass   []string                 `json:"skip_to_pass,omitempty"`
	Quarantined  []string                 `json:"quarantined,omitempty"`
	Vanished     []string                 `json:"vanished,omitempty"`
	UnstableID   []string                 `json:"unstable_id,omitempty"`
	SolutionFile []string                 `json:"solution_file,omitempty"`
	SolutionName []string                 `json:"solution_name,omitempty"`
	Clock        []string                 `json:"clock,omitempty"`
}

// ID is the instance ID of a change of the sample.
func (e Expectation) ID(c Change) string {
	return schemas.FeatureID(e.Repository, c.Number, "").String()
}

// Numbers are the pull request numbers that the sample speaks of, in order.
func (e Expectation) Numbers() []int {
	var out []int
	for _, c := range e.Changes {
		out = append(out, c.Number)
	}
	return out
}

// Answer gives the files of an answer.
func (s Sample) Answer(c Change, name string) map[string][]byte {
	out := map[string][]byte{}
	for path, data := range gitrepotest.Extras(s.History) {
		if file, ok := strings.CutPrefix(path, fmt.Sprintf("answers/%d/%s/", c.Number, name)); ok {
			out[file] = data
		}
	}
	return out
}

// Build writes the sample's repository into dir.
func (s Sample) Build(dir string) error {
	if _, err := gitrepotest.Build(dir, s.History); err != nil {
		return fmt.Errorf("sample %s: %w", s.Name, err)
	}
	return nil
}

// Load reads every sample of a directory, by name.
func Load(dir string) ([]Sample, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no *.txtar in %s", dir)
	}
	var out []Sample
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s, err := parse(strings.TrimSuffix(filepath.Base(path), ".txtar"), data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func parse(name string, data []byte) (Sample, error) {
	s := Sample{Name: name, History: data}
	text, ok := gitrepotest.Extras(data)[expectFile]
	if !ok {
		return s, fmt.Errorf("no %s before the first commit", expectFile)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s.Expectation); err != nil {
		return s, fmt.Errorf("%s: %w", expectFile, err)
	}
	if s.Repository == "" || s.Language == "" || len(s.Changes) == 0 {
		return s, fmt.Errorf("%s: repository, language and changes are needed", expectFile)
	}
	var errs []error
	for i := range s.Changes {
		c := &s.Changes[i]
		errs = append(errs, s.finish(c))
		for name := range c.Answers {
			if len(s.Answer(*c, name)) == 0 {
				errs = append(errs, fmt.Errorf("change %d: no file of the answer %q", c.Number, name))
			}
		}
	}
	return s, errors.Join(errs...)
}

// finish checks one change and writes its lists out in full.
func (e Expectation) finish(c *Change) error {
	known := slices.ContainsFunc(schemas.Reasons, func(r schemas.ReasonText) bool { return string(r.Reason) == c.End })
	if c.End != Done && c.End != Rejected && !known {
		return fmt.Errorf("change %d: %q is neither %q nor a reason", c.Number, c.End, Done)
	}
	if (c.End == Rejected) != (c.Says != "") {
		return fmt.Errorf("change %d: what is %q says what it has to name, and nothing else does", c.Number, Rejected)
	}
	if (c.End == Done) != (len(c.FailToPass) > 0) {
		return fmt.Errorf("change %d: a row has a fail_to_pass, and only a row", c.Number)
	}
	for _, list := range []*[]string{&c.PassToPass, &c.SkipToPass, &c.Quarantined, &c.Vanished, &c.UnstableID, &c.SolutionFile, &c.SolutionName, &c.Clock} {
		full, err := e.expand(*list)
		if err != nil {
			return fmt.Errorf("change %d: %w", c.Number, err)
		}
		*list = full
	}
	return nil
}

var span = lazyregexp.New(`^(.*)\{(\d+)\.\.(\d+)\}(.*)$`)

// expand writes out "@set" and "name_{01..50}", and sorts.
func (e Expectation) expand(list []string) ([]string, error) {
	var out []string
	for _, item := range list {
		if set, ok := strings.CutPrefix(item, "@"); ok {
			members, ok := e.Sets[set]
			if !ok {
				return nil, fmt.Errorf("no set %q", set)
			}
			full, err := e.expand(members)
			if err != nil {
				return nil, err
			}
			out = append(out, full...)
			continue
		}
		m := span.FindStringSubmatch(item)
		if m == nil {
			out = append(out, item)
			continue
		}
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		for i := from; i <= to; i++ {
			out = append(out, fmt.Sprintf("%s%0*d%s", m[1], len(m[2]), i, m[4]))
		}
	}
	slices.Sort(out)
	return out, nil
}

// ListsOf sorts the tests of a proof into the lists that expectations have.
// Classes that no list is made of (parent, failing, unproved) are left out.
func ListsOf(tests []schemas.TestVerdict) Lists {
	var l Lists
	lists := map[schemas.Class]*[]string{
		schemas.P2P: &l.PassToPass, schemas.SkipToPass: &l.SkipToPass, schemas.Quarantined: &l.Quarantined, schemas.Vanished: &l.Vanished,
		schemas.UnstableID: &l.UnstableID, schemas.SolutionFile: &l.SolutionFile, schemas.SolutionName: &l.SolutionName, schemas.TimeBound: &l.Clock,
	}
	for _, t := range tests {
		if list := lists[t.Class]; list != nil {
			*list = append(*list, t.ID)
		} else if t.Class == schemas.F2P {
			if l.FailToPass == nil {
				l.FailToPass = map[string]schemas.Cause{}
			}
			l.FailToPass[t.ID] = t.Cause
		}
	}
	for _, list := range lists {
		slices.Sort(*list)
	}
	return l
}
