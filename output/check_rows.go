package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// row lints the row by itself, then against its folder, its trees and its proof.
func (c *checker) row(r Located) {
	for _, f := range c.d.layout.lint(r.Row) {
		f.File, f.Line = r.File, r.Line
		c.findings = append(c.findings, f)
	}
	base, _, _, err := c.d.States(r.Row)
	if err != nil {
		c.addRow(r, RuleTrees, "%v", err)
	} else if files, lines := code(base, r.Benchmint.Language); files != r.Benchmint.Statistics.RepositoryFiles || lines != r.Benchmint.Statistics.RepositoryLines {
		c.addRow(r, RuleStatistics, "repository_files and repository_lines are %d and %d; the base tree has %d and %d",
			r.Benchmint.Statistics.RepositoryFiles, r.Benchmint.Statistics.RepositoryLines, files, lines)
	}
	c.folder(r)
	c.adequacy(r)
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
		b, err := readIn(c.d.Dir, path.Join(dir, f.name))
		if err != nil {
			c.addRow(r, RuleFolder, "%s: %s", path.Join(dir, f.name), cause(err))
			continue
		}
		if want, err := f.want(); err == nil && string(want) != string(Bare(f.name, b)) {
			c.addRow(r, RuleFolder, "%s is not what the row holds", path.Join(dir, f.name))
		}
	}
	env, err := c.d.Environment(r.Row)
	if err != nil {
		c.addRow(r, RuleFolder, "%v", err)
	} else if hostPath.MatchString(string(mustJSON(env.Recipe))) {
		c.addRow(r, RuleHost, "%s holds %s", path.Join(dir, RecipeFile), hostPath.FindString(string(mustJSON(env.Recipe))))
	}
	start, startErr := c.d.Start(r.InstanceID)
	if startErr != nil {
		c.addRow(r, RuleFolder, "%v", startErr)
	} else {
		c.start(r, start)
		c.derived(r, start)
		proof, noProof := c.d.Proof(r.InstanceID)
		adequacy, noAdequacy := c.d.Adequacy(r.InstanceID)
		if noProof == nil && noAdequacy == nil { // else it is reported where they are read
			c.masked(r, start, proof, adequacy)
		}
	}
	if err == nil && startErr == nil {
		if want := ImageKey(env, start); want != r.Benchmint.ImageKey {
			c.addRow(r, RuleImage, "image_key is %s; recipe and start make %s", r.Benchmint.ImageKey.Short(), want.Short())
		}
	}
	for _, name := range []string{DockerfileFile, RunFile} {
		if _, err := os.Stat(filepath.Join(c.d.Dir, filepath.FromSlash(path.Join(dir, name)))); err != nil {
			c.addRow(r, RuleFolder, "%s: %s", path.Join(dir, name), cause(err))
		}
	}
}

// derived: what makes the base tree of the base commit is the patch that the start names.
func (c *checker) derived(r Located, s schemas.Start) {
	name := path.Join(TasksDir, r.InstanceID, MaskFile)
	b, err := readIn(c.d.Dir, name)
	switch {
	case s.Derive == "" && errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.addRow(r, RuleFolder, "%s: %s", name, cause(err))
	case schemas.DigestBytes(Bare(name, b)) != s.Derive:
		c.addRow(r, RuleFolder, "%s is not the patch that the start names", name)
	}
}

// masked: what the row repeats of the mask and of the proof is the same.
func (c *checker) masked(r Located, s schemas.Start, p schemas.Proof, a schemas.Adequacy) {
	if s.Kind == schemas.KindService || r.Benchmint.Service != nil {
		c.served(r, s, p)
		return
	}
	x := r.Benchmint.Library
	if x == nil || s.Masked == nil {
		if x != nil || s.Masked != nil {
			c.addRow(r, RuleFolder, "library is not that of %s", path.Join(TasksDir, r.InstanceID, StartFile))
		}
		return
	}
	c.specification(r, x.Specification)
	if !bytes.Equal(mustJSON(*x), mustJSON(*libraryAgain(*x, s, p, a))) {
		c.addRow(r, RuleFolder, "library is not that of %s, %s and %s", path.Join(TasksDir, r.InstanceID, StartFile), ProofFile, AdequacyFile)
	}
}

// start: what the row repeats of the start is the same.
func (c *checker) start(r Located, s schemas.Start) {
	e, name := r.Benchmint, path.Join(TasksDir, r.InstanceID, StartFile)
	if s.ID() != r.InstanceID || s.BaseTree != e.Trees.Base || s.StartTree != e.Trees.Start || s.SolutionTree != e.Trees.Solution || s.Base != r.BaseCommit {
		c.addRow(r, RuleFolder, "%s is of another task or other trees", name)
		return
	}
	for _, f := range []struct {
		key        string
		row, start any
	}{
		{"sizes", e.Sizes, s.Sizes}, {"functions", e.Functions, functions(s.Functions)}, {"parts", e.Parts, parts(s)},
		{"identity", e.Identity, s.Identity}, {"language", e.Language, s.Language}, {"kind", e.Kind, s.Kind},
	} {
		if !bytes.Equal(mustJSON(f.row), mustJSON(f.start)) {
			c.addRow(r, RuleFolder, "%s is not that of %s", f.key, name)
		}
	}
}

// adequacy: the row sums up the record of the folder.
func (c *checker) adequacy(r Located) {
	a, err := c.d.Adequacy(r.InstanceID)
	if err != nil {
		c.addRow(r, RuleFolder, "%v", err)
		return
	}
	if !bytes.Equal(mustJSON(c.d.layout.adequacyIn(a)), mustJSON(r.Benchmint.Adequacy)) {
		c.addRow(r, RuleAdequacy, "adequacy is not that of %s", path.Join(TasksDir, r.InstanceID, AdequacyFile))
	}
	if !slices.Equal(fast(a, r.PassToPass), r.Benchmint.P2PFast) {
		c.addRow(r, RuleAdequacy, "p2p_fast is not what %s says of the tests of PASS_TO_PASS", path.Join(TasksDir, r.InstanceID, AdequacyFile))
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
	say("solution_file", e.SolutionFile, p.List(schemas.SolutionFile))
	say("solution_name", e.SolutionName, p.List(schemas.SolutionName))
	say("baseline_b", e.BaselineB, baselineB(p))
	if !maps.Equal(e.Causes, causes(p)) {
		out = append(out, "causes are not those of the proof")
	}
	if string(mustJSON(e.Clock)) != string(mustJSON(clockOf(p))) {
		out = append(out, "clock is not that of the proof")
	}
	for _, name := range unnamed(slices.Collect(maps.Values(e.Causes)), p.Interface, r.ProblemStatement) {
		out = append(out, fmt.Sprintf("no FAIL_TO_PASS has cause fails, and nothing gives %q, which the proof's tests need", name))
	}
	if regressions := p.List(schemas.Regression); len(regressions) > 0 {
		out = append(out, fmt.Sprintf("the proof holds a regression: %s", regressions[0]))
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
