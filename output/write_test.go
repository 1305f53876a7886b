package output

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// What the ledger or an equal state takes out is a reject, in its place.
func TestWriteTakesOut(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	twin, flaky := task(t, 14, goldPatch), task(t, 15, goldPatch)
	twin.Start.Identity = in.tasks[0].Start.Identity
	flaky.Proof.Tests = slices.Clone(flaky.Proof.Tests)
	for i := range flaky.Proof.Tests {
		if flaky.Proof.Tests[i].Class == schemas.F2P {
			flaky.Proof.Tests[i].Class = schemas.Quarantined
		}
	}
	flaky.QuarantinedIn = map[string][]string{"tests/test_widget.py::test_colour": {"acme__widget-3", "acme__widget-7"}}
	unnamed := task(t, 16, goldPatch)
	unnamed.Proof.Tests, unnamed.Proof.Interface = slices.Clone(unnamed.Proof.Tests), []schemas.Name{{Name: "frobnicate"}}
	for i := range unnamed.Proof.Tests {
		if unnamed.Proof.Tests[i].Class == schemas.F2P {
			unnamed.Proof.Tests[i].Cause = schemas.CauseLoad
		}
	}
	in.tasks = []Task{in.tasks[0], twin, flaky, unnamed, in.tasks[1]}
	m, err := Write(dir, in.of())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Counts{Tasks: 2, Rejected: 4, Failed: 1}, m.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	last := m.Funnel[len(m.Funnel)-1]
	if d := cmp.Diff(Funnel{Stage: "export", Done: 2, Rejected: map[schemas.Reason]int{schemas.DuplicateStart: 1, schemas.LedgerFlaky: 1, schemas.Uncovered: 1}}, last); d != "" {
		t.Errorf("funnel (-want +got):\n%s", d)
	}
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range d.Rejects {
		got = append(got, fmt.Sprintf("%s %s %s %s", r.InstanceID, r.Stage, r.Reason, r.Detail))
	}
	if d := cmp.Diff([]string{
		"acme__widget-14 export link/duplicate the same states as acme__widget-12",
		"acme__widget-15 export export/flaky tests/test_widget.py::test_colour disagreed with itself in acme__widget-3, acme__widget-7",
		"acme__widget-16 export describe/uncovered without the tests of the flake ledger none fails by itself, and nothing gives frobnicate",
		"acme__widget-8 validate  disk full",
		"acme__widget-9 link link/no_tests no test among 1 path",
	}, got); d != "" {
		t.Errorf("rejects (-want +got):\n%s", d)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("check: %v %v", err, findings)
	}
}

// An error of a source of tasks or rejects ends the writing and leaves no folder.
func TestWriteEndsWithItsSources(t *testing.T) {
	t.Parallel()
	broken := errors.New("the store is gone")
	for name, edit := range map[string]func(*Input){
		"tasks":   func(in *Input) { in.Splits[0].Tasks = func(yield func(Task, error) bool) { yield(Task{}, broken) } },
		"rejects": func(in *Input) { in.Rejects = func(yield func(Reject, error) bool) { yield(Reject{}, broken) } },
	} {
		parent := t.TempDir()
		in := input(t).of()
		edit(&in)
		if _, err := Write(filepath.Join(parent, "out"), in); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v %v", name, left, err)
		}
	}
}

// A folder of many files is synced as a whole, and is as good.
func TestWriteOfManyFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	whole := in.of()
	whole.Splits[0].Tasks = synthetic(t, 40)
	m, err := Write(dir, whole)
	if err != nil {
		t.Fatal(err)
	}
	if m.Checksums.Files <= syncedSingly {
		t.Fatalf("%d files: too few for this test", m.Checksums.Files)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("check: %v %v", err, findings)
	}
}

// The checksums are what sha256sum reads, and the folder is open to others.
func TestChecksums(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(dir, input(t).of()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sha256sum", "--check", "--strict", "--quiet", ChecksumsFile)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
}

// The footer of the Parquet holds no long text, and no name of a build.
func TestParquetFooter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(dir, input(t).of()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "data/test.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	meta := f.Metadata()
	if meta.CreatedBy != "benchmint version 1(build )" {
		t.Errorf("created by %q", meta.CreatedBy)
	}
	for _, c := range meta.RowGroups[0].Columns {
		name := c.MetaData.PathInSchema[0]
		if long := len(c.MetaData.Statistics.MaxValue) > 0 || len(c.MetaData.Statistics.MinValue) > 0; long == slices.Contains(boundless, name) {
			t.Errorf("%s: bounds in the footer: %v", name, long)
		}
		if c.MetaData.Codec.String() != "ZSTD" {
			t.Errorf("%s: %s", name, c.MetaData.Codec)
		}
	}
}

// Rows of any size end a row group before the memory is full.
func TestParquetRowGroups(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := newParquet(&b)
	row, err := line(columns{InstanceID: "a", Patch: strings.Repeat("x", rowGroupBytes/2)})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if err := p.add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n != 3 {
		t.Errorf("%d row groups", n)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"": "1", "v1.0": "v1.0", "2024-03-10": "v2024-03-10", "2024-03-10T00:00:00Z": "v2024-03-10T00:00:00Z", "2024.3": "2024.3", "1": "1"} {
		if got := version(tag); got != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
}

// The key follows what the image is made from, and nothing else.
// A number that the forge alone tells is the row's alias, and the row is a valid one.
func TestAlias(t *testing.T) {
	t.Parallel()
	x := task(t, 0, goldPatch)
	if row := RowOf(x, Base{}); row.Benchmint.Change.Alias != "" {
		t.Errorf("alias %q of nobody", row.Benchmint.Change.Alias)
	}
	x.Origin.Change.Pull = &schemas.Pull{Number: 31}
	row := RowOf(x, Base{})
	if c := row.Benchmint.Change; c.Alias != "acme__widget-31" || c.Number != 0 || row.InstanceID != "acme__widget-cabababababab" {
		t.Errorf("%s: alias %q, number %d", row.InstanceID, c.Alias, c.Number)
	}
	x.Origin.Change.Number = 12
	if row := RowOf(x, Base{}); row.Benchmint.Change.Alias != "" {
		t.Errorf("alias %q of a change with a number", row.Benchmint.Change.Alias)
	}
}

// The category of a list is in rows and card, and nowhere where there is no list.
func TestCategory(t *testing.T) {
	t.Parallel()
	x := task(t, 12, goldPatch)
	all, none := newTally(), newTally()
	row := RowOf(x, Base{})
	none.add(row)
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "category") {
		t.Errorf("a category of no list: %s", text)
	}
	for _, category := range []string{"web | tools", "web | tools", "data"} {
		x.Origin.Change.Category = category
		if row = RowOf(x, Base{}); row.Benchmint.Category != category {
			t.Errorf("category %q, want %q", row.Benchmint.Category, category)
		}
		all.add(row)
	}
	var with, without bytes.Buffer
	tallies(&with, all)
	tallies(&without, none)
	if want := "\n| Category | Tasks |\n| --- | ---: |\n| web \\| tools | 2 |\n| data | 1 |\n"; !strings.Contains(with.String(), want) || strings.Contains(without.String(), "Category") {
		t.Errorf("the card of a list says\n%s\nand that of none\n%s", &with, &without)
	}
}

func TestImageKey(t *testing.T) {
	t.Parallel()
	key := func(edit func(*Task)) schemas.Digest {
		x := task(t, 12, goldPatch)
		edit(&x)
		return ImageKey(x.Environment, x.Start)
	}
	same := key(func(*Task) {})
	for name, c := range map[string]struct {
		edit  func(*Task)
		equal bool
	}{
		"nothing":      {func(*Task) {}, true},
		"evidence":     {func(x *Task) { x.Environment.Recipe.Evidence = []schemas.Evidence{{Field: "test"}} }, true},
		"test_command": {func(x *Task) { x.Environment.Recipe.Test = nil }, true},
		"other_patch":  {func(x *Task) { x.Start.SolutionTree, x.Start.StartTree = "s", "g" }, true},
		"other_change": {func(x *Task) { x.Start.ChangeID = "acme__widget-13" }, true},
		"zone_of_date": {func(x *Task) { x.Start.BaseDate = x.Start.BaseDate.In(tokyo) }, true},
		"base":         {func(x *Task) { x.Start.BaseTree = "b" }, false},
		"date":         {func(x *Task) { x.Start.BaseDate = x.Start.BaseDate.Add(1e9) }, false},
		"environment":  {func(x *Task) { x.Environment.Key = "sha256:e" }, false},
		"lock":         {func(x *Task) { x.Environment.Recipe.Lock = "pytest==8.1.0\n" }, false},
		"toolchain":    {func(x *Task) { x.Environment.Recipe.Toolchain.Version = "3.12.2" }, false},
		"build":        {func(x *Task) { x.Environment.Recipe.Build = nil }, false},
		"own_version": {func(x *Task) {
			x.Environment.Recipe.Variables = maps.Clone(x.Environment.Recipe.Variables)
			x.Environment.Recipe.Variables["PBR_VERSION"] = "1"
		}, false},
	} {
		if got := key(c.edit); (got == same) != c.equal {
			t.Errorf("%s: equal is %v", name, got == same)
		}
	}
}

// Every plot is well-formed and shows what the names of others hold as text.
func TestPlotsAreXML(t *testing.T) {
	t.Parallel()
	b, err := funnelPlot([]level{{title: `<script>"&`, count: 7}, {title: "x", count: 0, of: 7}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := histogram("lines", "lines", []int{0, 1, 1, 3, 1 << 21})
	if err != nil {
		t.Fatal(err)
	}
	for name, svg := range map[string][]byte{"funnel": b, "histogram": h} {
		dec := xml.NewDecoder(bytes.NewReader(svg))
		for {
			_, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, svg)
			}
		}
	}
	if strings.Contains(string(b), "<script") || !strings.Contains(string(b), "0.0 %") {
		t.Errorf("funnel:\n%s", b)
	}
	for _, want := range []string{">0<", ">1<", ">2–3<", ">2M–4M<"} {
		if !strings.Contains(string(h), want) {
			t.Errorf("histogram without %s:\n%s", want, h)
		}
	}
}

func TestLicencesInTheHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		have []string
		want string
	}{
		{nil, ""},
		{[]string{"MIT"}, "license: mit\n"},
		{[]string{"MIT", "Apache-2.0"}, "license:\n- apache-2.0\n- mit\n"},
		{[]string{"GPL-3.0-only", "GPL-3.0-or-later"}, "license: gpl-3.0\n"},
		{[]string{"MIT", ""}, "license: other\nlicense_name: see-the-table-of-licences\n"},
		{[]string{"LicenseRef-own"}, "license: other\nlicense_name: see-the-table-of-licences\n"},
	} {
		tl, b := newTally(), bytes.Buffer{}
		for _, l := range tt.have {
			tl.add(Row{Benchmint: Extra{Licence: l}})
		}
		licences(&b, tl)
		if b.String() != tt.want {
			t.Errorf("%q: %q, want %q", tt.have, b.String(), tt.want)
		}
	}
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	tl := newTally()
	for _, n := range []int{3, 1, 2, 10} {
		tl.add(Row{Benchmint: Extra{Statistics: Statistics{PatchLines: n}}})
	}
	got := tl.statistics()
	if d := cmp.Diff(Statistic{Name: "patch_lines", Mean: 4, Median: 2.5, Min: 1, Max: 10}, got[4]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	tl.add(Row{})
	if got := tl.statistics()[4]; got.Median != 2 || got.Mean != 3.2 || got.Min != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	tr, err := tree.New([]tree.Entry{
		{Path: "a.py", Mode: tree.ModeFile, Data: []byte("x\ny")}, {Path: "b/c.pyi", Mode: tree.ModeExec, Data: []byte("x\n")}, {Path: "e.py", Mode: tree.ModeFile},
		{Path: "l.py", Mode: tree.ModeSymlink, Data: []byte("a.py")}, {Path: "m.go", Mode: tree.ModeFile, Data: []byte("package m\n")}, {Path: "py", Mode: tree.ModeFile, Data: []byte("x\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if files, lines := code(tr, "python"); files != 3 || lines != 3 {
		t.Errorf("python: %d files, %d lines", files, lines)
	}
	if files, lines := code(tr, "go"); files != 1 || lines != 1 {
		t.Errorf("go: %d files, %d lines", files, lines)
	}
}

// The funnel is FeatBench's, and falls from line to line.
// A reason whose stage has no level is left out of the card.
func TestEveryReasonHasALevel(t *testing.T) {
	t.Parallel()
	shown := []string{"crawl", surveyed, "engine", "review", "balance"} // levels of their own; each stage's own
	for _, k := range kinds {
		shown = append(shown, k.funnel.stage)
	}
	for _, l := range met {
		shown = append(shown, l.stages...)
	}
	for _, r := range schemas.Reasons {
		if stage, _, _ := strings.Cut(string(r.Reason), "/"); !slices.Contains(shown, stage) {
			t.Errorf("%s: the funnel has no level for %s", r.Reason, stage)
		}
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	m := Manifest{Releases: 9, Funnel: []Funnel{
		{Stage: "crawl", Done: 3, Rejected: map[schemas.Reason]int{schemas.BadLicence: 1}, Failed: 1},
		{Stage: "harvest", Done: 3},
		{Stage: "link", Done: 40, Rejected: map[schemas.Reason]int{schemas.NoTests: 30, schemas.NoCode: 30, schemas.AddsFunctions: 15, schemas.UnreadSource: 5}, Deferred: 2},
		{Stage: "classify", Done: 30, Rejected: map[schemas.Reason]int{schemas.OtherLabel: 10}},
		{Stage: "resolve", Done: 28, Rejected: map[schemas.Reason]int{schemas.Unresolvable: 2}},
		{Stage: "provision", Done: 20, Rejected: map[schemas.Reason]int{schemas.NoBuild: 8}},
		{Stage: "validate", Done: 10, Rejected: map[schemas.Reason]int{schemas.NoF2P: 9}, Failed: 1},
		{Stage: "assess", Done: 10}, {Stage: "describe", Done: 9, Rejected: map[schemas.Reason]int{schemas.ThinStatement: 1}},
		{Stage: "document", Done: 2, Rejected: map[schemas.Reason]int{schemas.NoSpec: 1}}, // of the 9
		{Stage: "export", Done: 7, Rejected: map[schemas.Reason]int{schemas.LedgerFlaky: 1}},
	}}
	var got []string
	for _, l := range levels(m) {
		got = append(got, fmt.Sprintf("%s: %d (%s) %s", l.title, l.count, l.share(), l.gone()))
	}
	if d := cmp.Diff([]string{
		"Repositories: 5 () ",
		"that pass the gates: 3 (60.0 %) 1 `crawl/licence`, 1 failed",
		"Changes (pull requests): 122 () ",
		"with code and tests: 60 (49.2 %) 30 `link/no_code`, 30 `link/no_tests`, 2 deferred",
		"that only modify existing functions: 40 (66.7 %) 15 `link/adds_functions`, 5 `link/unread_source`",
		"with a label that is asked for: 30 (75.0 %) 10 `classify/label`",
		"with an environment: 20 (66.7 %) 8 `provision/build`, 2 `provision/resolve`",
		"proved: 10 (50.0 %) 9 `validate/no_f2p`, 1 failed",
		"with a statement: 8 (80.0 %) 1 `describe/specification`, 1 `describe/thin`",
		"in the dataset: 7 (87.5 %) 1 `export/flaky`",
	}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	m.Configuration = []byte(`{"filters.modifies_only": false}`)
	for _, l := range levels(m) {
		if strings.Contains(l.title, "only modify") {
			t.Error("a filter that was off has a level")
		}
	}
	if got := levels(Manifest{}); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// A dataset that no library came to has the manifest that it had before there was a stage
// for their documentation.
func TestFunnelWithoutLibraries(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]Funnel{"describe export": {Stage: "document"}, "describe document export": {Stage: "document", Rejected: map[schemas.Reason]int{schemas.NoSpec: 1}}} {
		var got []string
		for _, x := range (&writer{}).funnel([]Funnel{{Stage: "describe"}, f}) {
			got = append(got, x.Stage)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// The memory of the writer follows one task, not all of them: of tasks with large
// patches six times as many need little more.
func TestWriteMemory(t *testing.T) {
	few, many := peakOf(t, 50), peakOf(t, 300)
	t.Logf("live heap at most: %d MiB for 50 tasks of 512 KiB, %d MiB for 300", few>>20, many>>20)
	// What more is written is 125 MiB; a buffer more or less is 16.
	if many > few+32<<20 {
		t.Errorf("%d MiB for 50 tasks, %d MiB for 300", few>>20, many>>20)
	}
}

// peakOf writes n tasks with patches of half a mebibyte and gives the largest live
// heap that a task has met.
func peakOf(t *testing.T, n int) uint64 {
	t.Helper()
	big := strings.Repeat("# padding that is long enough\n", 1<<19/30)
	var peak uint64
	in := Input{Name: "big", Splits: []SplitInput{{Tasks: func(yield func(Task, error) bool) {
		i := 0
		for x := range synthetic(t, n) {
			x.Patch = []byte(goldPatch + big)
			if i++; i%(n/10) == 0 {
				runtime.GC()
				var s runtime.MemStats
				runtime.ReadMemStats(&s)
				peak = max(peak, s.HeapAlloc)
			}
			if !yield(x, nil) {
				return
			}
		}
	}}}}
	if _, err := Write(filepath.Join(t.TempDir(), "out"), in); err != nil {
		t.Fatal(err)
	}
	return peak
}

// TestWriteKeepsWhatHolds: a dataset that Check has something against takes the place of none.
func TestWriteKeepsWhatHolds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	s := input(t)
	if _, err := Write(dir, s.of()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	s.tasks[0].Statement.From = nil
	_, err = Write(dir, s.of())
	var unsound *UnsoundError
	if !errors.As(err, &unsound) || !strings.Contains(err.Error(), "statement_from is empty") {
		t.Errorf("error %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, ManifestFile)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the dataset that stood is another one: %v", err)
	}
}
