package output

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/schemas"
)

var sumLine = lazyregexp.New(`^([0-9a-f]{64})  (.+)$`)

// sums reads the checksums, which the manifest's own digest holds.
func (c *checker) sums() map[string]string {
	out := map[string]string{}
	b, err := readIn(c.d.Dir, ChecksumsFile)
	if err != nil {
		c.add(ChecksumsFile, RuleMissingFile, "%s", cause(err))
		return out
	}
	if got, want := schemas.DigestBytes(b), c.d.Manifest.Checksums.SHA256; got != want {
		c.add(ChecksumsFile, RuleDigest, "its bytes are %s; the manifest says %s", got.Short(), want.Short())
	}
	n := 0
	for l := range strings.Lines(string(b)) {
		n++
		m := sumLine.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		switch {
		case m == nil:
			c.findings = append(c.findings, Finding{File: ChecksumsFile, Line: n, Rule: RuleSyntax, Message: "not a digest, two blanks and a name"})
		case !filepath.IsLocal(m[2]):
			c.findings = append(c.findings, Finding{File: ChecksumsFile, Line: n, Rule: RuleSyntax, Message: fmt.Sprintf("%q leaves the folder", m[2])})
		default:
			out[m[2]] = m[1]
		}
	}
	if want := c.d.Manifest.Checksums.Files; n != want {
		c.add(ManifestFile, RuleCount, "checksums.files is %d; %s names %d", want, ChecksumsFile, n)
	}
	return out
}

// files compares the folder with the checksums, both ways, and gives them.
func (c *checker) files() map[string]string {
	sums := c.sums()
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		got, err := hashFile(c.d.Dir, name)
		switch {
		case err != nil:
			c.add(name, RuleMissingFile, "in %s: %s", ChecksumsFile, cause(err))
		case got != sums[name]:
			c.add(name, RuleDigest, "its bytes are %.12s; %s says %.12s", got, ChecksumsFile, sums[name])
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
		switch _, known := sums[name]; {
		case name == ".":
		case path.Dir(name) == "." && strings.HasPrefix(name, "."): // .git, .gitattributes: the user's own
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir(), known && e.Type().IsRegular(), name == ManifestFile, name == TimingsFile, name == ReproofFile, name == DecontaminationFile, name == ChecksumsFile:
		case c.d.Manifest.Release != nil && (name == ReleaseFile || name == CostFile || name == FeedFile):
		case known:
			c.add(name, RuleExtraFile, "it is not a regular file")
		default:
			c.add(name, RuleExtraFile, "%s does not name it", ChecksumsFile)
		}
		return nil
	})
	if err != nil {
		c.add(".", RuleMissingFile, "walking the folder: %s", cause(err))
	}
	return sums
}

func hashFile(dir, name string) (string, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// parquet holds the same rows as the JSONL, value by value.
func (c *checker) parquet(split string) {
	b, err := readIn(c.d.Dir, dataPath(split))
	if err != nil {
		return // reported where it was read
	}
	lines := slices.Collect(bytes.Lines(b))
	c.parquetOf(parquetPath(split), RuleParquet, lines)
	c.configs(split, lines)
}

// configs: the file of each configuration holds the rows that belong to it, and there is no other.
func (c *checker) configs(split string, lines [][]byte) {
	want := map[string][][]byte{}
	for _, r := range c.d.Rows {
		if c.d.Manifest.Release == nil || r.File != dataPath(split) {
			continue
		}
		for _, name := range configsOf(r.Row, c.d.Manifest.Card, c.d.Manifest.Release) {
			want[configPath(name, split)] = append(want[configPath(name, split)], lines[r.Line-1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c.parquetOf(name, RuleConfig, want[name])
	}
	there, err := fs.Glob(os.DirFS(c.d.Dir), configPath("*", split))
	if err != nil {
		c.add(DataDir, RuleConfig, "%s", cause(err))
	}
	for _, name := range there {
		if want[name] == nil {
			c.add(name, RuleConfig, "no row makes this configuration")
		}
	}
}

// parquetOf holds a file to the lines of its rows.
func (c *checker) parquetOf(name string, rule Rule, lines [][]byte) {
	rows := 0
	err := readParquet(c.d.Dir, name, func(n int, got columns) {
		rows = n
		if n > len(lines) {
			return
		}
		var want columns
		if json.Unmarshal(lines[n-1], &want) != nil {
			return // reported where it was read
		}
		if key := firstDifferent(want, got); key != "" {
			c.findings = append(c.findings, Finding{File: name, Line: n, Instance: want.InstanceID, Rule: rule, Message: key + " is not what the JSONL holds"})
		}
	})
	switch {
	case err != nil:
		c.add(name, rule, "%s", cause(err))
	case rows != len(lines):
		c.add(name, rule, "%d rows; the JSONL has %d", rows, len(lines))
	}
}

func firstDifferent(a, b columns) string {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if x.Field(i).String() != y.Field(i).String() {
			return x.Type().Field(i).Tag.Get("json")
		}
	}
	return ""
}

// card makes statistics, card and plots again from the rows.
func (c *checker) card(sums map[string]string) {
	if slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Rule == RuleSyntax || f.Rule == RuleCount }) {
		return // what is made of half the rows says nothing
	}
	t := newTally()
	for name, sum := range sums {
		t.files[name] = schemas.Digest("sha256:" + sum)
	}
	for _, r := range c.d.Rows {
		t.add(r.Row)
	}
	for _, r := range c.d.Rejects {
		t.reviews.reject(r)
	}
	m := c.d.Manifest
	c.balance(m.Balance, t)
	if want := t.statistics(); !bytes.Equal(mustJSON(want), mustJSON(some(m.Statistics))) {
		c.add(ManifestFile, RuleStatistics, "statistics are not those of the rows")
		m.Statistics = want
	}
	if m.Card != CardVersion {
		return // another version wrote it; the checksums hold it
	}
	c.same(CardFile, RuleCard, card(m, t))
	drawn, err := plots(m, t)
	if err != nil {
		c.add(PlotsDir, RulePlots, "%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		c.same(name, RulePlots, drawn[name])
	}
	entries, _ := os.ReadDir(filepath.Join(c.d.Dir, PlotsDir)) // none: each that is missing was named
	for _, e := range entries {
		if name := path.Join(PlotsDir, e.Name()); drawn[name] == nil {
			c.add(name, RulePlots, "no plot of this dataset")
		}
	}
}

func (c *checker) same(name string, rule Rule, want []byte) {
	got, err := readIn(c.d.Dir, name)
	switch {
	case err != nil:
		c.add(name, rule, "%s", cause(err))
	case !bytes.Equal(Bare(name, got), want):
		n := 1
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				break
			}
			if got[i] == '\n' {
				n++
			}
		}
		c.findings = append(c.findings, Finding{File: name, Line: n, Rule: rule, Message: "not what manifest and rows make"})
	}
}

// flakes are in the ledger's order; the answer is the changes of each test.
func (c *checker) flakes() map[[2]string][]string {
	out := map[[2]string][]string{}
	states := []schemas.State{schemas.StateB, schemas.StateS, schemas.StateG}
	for i, f := range c.d.Flakes {
		add := func(format string, args ...any) {
			c.findings = append(c.findings, Finding{File: FlakesFile, Line: i + 1, Rule: RuleFlakes, Message: fmt.Sprintf(format, args...)})
		}
		if i > 0 && compareFlakes(c.d.Flakes[i-1], f) >= 0 {
			add("%s stands after %s", f.Test, c.d.Flakes[i-1].Test)
		}
		if !slices.Contains(states, f.State) || f.Repo == "" || f.Test == "" || len(f.Causes) == 0 || len(f.Changes) == 0 && c.d.Manifest.Release == nil { // of a release they may be hidden
			add("repo, test, state, causes and changes must not be empty or unknown")
		}
		key := [2]string{f.Repo, f.Test}
		out[key] = append(out[key], f.Changes...)
		slices.Sort(out[key])
		out[key] = slices.Compact(out[key])
	}
	return out
}

func compareFlakes(a, b ledger.Flake) int {
	return cmp.Or(strings.Compare(a.Repo, b.Repo), strings.Compare(a.Test, b.Test), cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.State, b.State))
}

// flakesOf: no list of a row holds a test of the ledger, and what a row quarantines
// is in it.
func (c *checker) flakesOf(r Located, flaky map[[2]string][]string) {
	for _, list := range [][]string{r.FailToPass, r.PassToPass} {
		for _, id := range list {
			if changes, ok := flaky[[2]string{r.Repo, id}]; ok {
				c.addRow(r, RuleFlakes, "%q is listed; it disagreed with itself in %s", id, strings.Join(changes, ", "))
			}
		}
	}
	e := r.Benchmint
	for _, id := range e.Quarantined {
		if _, ok := flaky[[2]string{r.Repo, id}]; !ok {
			c.addRow(r, RuleFlakes, "%q is quarantined and not in %s", id, FlakesFile)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.QuarantinedIn)) {
		if changes := flaky[[2]string{r.Repo, id}]; !slices.Equal(changes, e.QuarantinedIn[id]) && !(e.Release != nil && within(e.QuarantinedIn[id], changes)) {
			c.addRow(r, RuleFlakes, "quarantined_in: %q is not of the changes that %s names", id, FlakesFile)
		}
	}
}

// within reports whether all of some are in all. A published row keeps the changes that were
// known when it came, but for hidden ones.
func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(x string) bool { return !slices.Contains(all, x) })
}
