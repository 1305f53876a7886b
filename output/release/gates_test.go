package release

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// TestGatesRemove: a new task that a gate objects to is left out, the version goes on, and the
// share is published.
func TestGatesRemove(t *testing.T) {
	t.Parallel()
	good := widget(2, "2025-01-10")
	for _, tt := range []struct {
		gate, text string
		bad        func(*change)
		spoil      func(*output.Row) // what the writer of the working dataset would leave out itself
	}{
		{"licence", "holds no text of a licence", func(c *change) { c.licence = "" }, nil},
		{"leaks", "is shown in 1 places", func(c *change) { c.leak = true }, nil},
		{"secrets", "credential", func(*change) {}, func(r *output.Row) { r.HintsText = "token = ghp_" + "x7Kq9Zr2Wm4Vb8Nc1Lf6Td3Hs5Jg0PyAeUo" }},
		{"window", "--backfill takes it", func(c *change) { c.day = "2024-12-31" }, nil},
		{"identity", "identity of acme__widget-2", func(*change) {}, func(r *output.Row) { r.Benchmint.Identity = schemas.DigestBytes([]byte(good.identity)) }},
	} {
		t.Run(tt.gate, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "releases")
			publish(t, dir, options(work(t, nil, widget(1, "2024-12-10")), "2025-01-01"))
			bad := widget(3, "2025-01-11")
			tt.bad(&bad)
			w := work(t, nil, good, bad)
			o := options(w, "2025-02-01")
			s, err := Open(context.Background(), dir, "bench")
			must(t, err)
			c, err := s.Plan(context.Background(), o)
			must(t, err)
			if tt.spoil != nil {
				tt.spoil(&c.Tasks[2].Row)
				must(t, c.settle(context.Background()))
			}
			_, err = c.Write(context.Background())
			must(t, err)
			s.Close()
			holds(t, dir)
			if got := idsOf(t, dir, "2025.02"); !slices.Equal(got, []string{"acme__widget-1", good.id()}) {
				t.Errorf("the version has %q", got)
			}
			if len(c.Left) != 1 || c.Left[0].Gate != tt.gate || c.Left[0].ID != bad.id() || !strings.Contains(c.Left[0].Text, tt.text) {
				t.Errorf("left: %v", c.Left)
			}
			for _, g := range record(t, dir, "2025.02").Gates {
				want := GateResult{Name: g.Name, State: g.State, Why: g.Why, Of: g.Of, Figures: g.Figures}
				if g.Name == tt.gate {
					want.Removed, want.Share = 1, 0.5
				}
				if fmt.Sprint(g) != fmt.Sprint(want) || g.Name == tt.gate && g.Of != 2 {
					t.Errorf("%s: %+v", g.Name, g)
				}
			}
			if tt.gate == "window" {
				o := options(w, "2025-03-01")
				o.Backfill = true
				publish(t, dir, o)
				if row := taskOf(t, dir, "2025.03", bad.id())["row"]; !strings.Contains(row, `\"backfill\":true`) {
					t.Errorf("no mark: %s", row)
				}
			}
		})
	}
}

func record(t testing.TB, dir string, v Version) Record {
	t.Helper()
	s, err := Read(dir)
	must(t, err)
	r, err := s.Record(v)
	must(t, err)
	return r
}

// TestGatesRefuse: a version that a gate refuses leaves the shelf to the byte as it was.
func TestGatesRefuse(t *testing.T) {
	t.Parallel()
	one, two := widget(1, "2025-01-10"), widget(2, "2025-02-10")
	quoted := two
	quoted.statement = "I want to give widgets a colour. " + output.CanaryWords + "\n"
	rooted := two
	rooted.licence = output.CanaryText("in a base tree")
	unsound := two
	unsound.edit = func(x *output.Task) {
		x.Proof.Interface = append(x.Proof.Interface, schemas.Name{Name: "nobody"})
		x.Proof.Tests[1].Cause, x.Proof.Tests[2].Cause = schemas.CauseLoad, schemas.CauseLoad
	}
	for _, tt := range []struct {
		name, gate, text string
		now              []change
		spoil            func(*Candidate)
	}{
		{name: "statement_with_canary", gate: "canary", text: "acme__widget-2: what a solver or an image sees holds it", now: []change{quoted}},
		{name: "base_tree_with_canary", gate: "canary", text: "a base tree holds it", now: []change{rooted}},
		{name: "unsound_task", gate: "lint", text: "acme__widget-2", now: []change{unsound}},
		{name: "task_gone", gate: "vanished", text: "acme__widget-1: it is in the version before", now: []change{two}, spoil: func(c *Candidate) { c.Tasks = c.Tasks[1:] }},
		{name: "other_patch", gate: "identity", text: "acme__widget-1: its patches", now: []change{two}, spoil: func(c *Candidate) {
			r := c.Tasks[0].Row
			r.Patch += "+\n"
			c.Tasks[0].Row, c.Tasks[0].carried.Row.Row = r, r
			c.Tasks[0].carried.Line, _ = r.Encoded()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "releases")
			publish(t, dir, options(work(t, nil, one), "2025-02-01"))
			before := contents(t, dir)
			s, err := Open(context.Background(), dir, "bench")
			must(t, err)
			defer s.Close()
			c, err := s.Plan(context.Background(), options(work(t, nil, tt.now...), "2025-03-01"))
			if err == nil && tt.spoil != nil {
				tt.spoil(c)
				err = c.settle(context.Background())
			}
			if err == nil {
				_, err = c.Write(context.Background())
			}
			var refused *RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("not refused: %v", err)
			}
			if !slices.ContainsFunc(refused.Objections, func(o Objection) bool { return o.Gate == tt.gate && strings.Contains(o.String(), tt.text) }) {
				t.Errorf("%v", err)
			}
			same(t, "the shelf", before, contents(t, dir))
		})
	}
}

// TestPublishedSecret: what today's rules find in a published task refuses the next version until
// it is purged.
func TestPublishedSecret(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one := widget(1, "2025-01-10")
	publish(t, dir, options(work(t, nil, one, widget(2, "2025-01-11")), "2025-02-01"))
	g := gates["secrets"]
	c, err := plan(dir, options(work(t, nil, widget(3, "2025-02-11")), "2025-03-01"), false)
	must(t, err)
	c.Tasks[0].Row.HintsText = "token = ghp_" + "x7Kq9Zr2Wm4Vb8Nc1Lf6Td3Hs5Jg0PyAeUo"
	a, err := g.Look(context.Background(), c)
	must(t, err)
	if len(a.Refuse) != 1 || len(a.Remove) != 0 || !strings.Contains(a.Refuse[0].Text, "--purge") {
		t.Errorf("%+v", a)
	}
}

// one more gate, as a later part of the program adds it.
type colourGate struct{}

func (colourGate) Name() string { return "colour" }

func (colourGate) Needs(context.Context, *Candidate) error { return nil }

func (colourGate) Look(_ context.Context, c *Candidate) (a Answer, err error) {
	for x := range c.New() {
		if strings.Contains(x.Row.Patch, "vermilion") {
			a.Remove = append(a.Remove, Objection{"colour", x.Row.InstanceID, "it is vermilion"})
		}
	}
	a.Figures = map[string]float64{"seen": float64(len(c.Tasks))}
	return a, nil
}

func (colourGate) Read(_ context.Context, _ *Candidate, dir string) (a Answer, err error) {
	m, err := output.ReadManifest(dir)
	if m.Release.Version == "2099.01" {
		a.Refuse = append(a.Refuse, Objection{Gate: "colour", Text: "that is too late"})
	}
	return a, err
}

func init() { Register(colourGate{}) }

// TestRegisteredGate: a gate comes without a change of this package, removes, refuses and is in
// the record; one that waits for its part of the program is in it, too.
func TestRegisteredGate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	bad := widget(2, "2025-01-11")
	bad.word = "vermilion"
	publish(t, dir, options(work(t, nil, widget(1, "2025-01-10"), bad), "2025-02-01"))
	by := map[string]GateResult{}
	for _, g := range record(t, dir, "2025.02").Gates {
		by[g.Name] = g
	}
	if g := by["colour"]; g.State != Held || g.Removed != 1 || g.Of != 2 || g.Share != 0.5 || g.Figures["seen"] != 2 {
		t.Errorf("%+v", g)
	}
	for name, why := range map[string]string{"decontamination": "there is nothing to compare with (decontamination.against)", "huggingface": "its maintainer left it out (--without)"} {
		if g := by[name]; g.State != NotRun || g.Why != why {
			t.Errorf("%+v", g)
		}
	}
	o := options(work(t, nil, widget(3, "2098-01-11")), "2099-01-01")
	if _, err := plan(dir, o, true); err == nil || !strings.Contains(err.Error(), "colour: that is too late") {
		t.Errorf("not refused: %v", err)
	}
	o.Without = append(o.Without, "colour")
	publish(t, dir, o)
	if err := CheckGates([]string{"colour", "lnt"}); err == nil || !strings.Contains(err.Error(), "did you mean lint") {
		t.Errorf("%v", err)
	}
}

// TestCanary: it is in every text and row, and nowhere that a solver or an image sees.
func TestCanary(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two := widget(1, "2025-01-10"), widget(2, "2025-02-10")
	publish(t, dir, options(work(t, []ledgerFlake{flaky("tests/test_widget.py::test_other")}, one), "2025-02-01"))
	publish(t, dir, options(work(t, nil, two), "2025-03-01"))
	guid := func(v string) string { return output.Canary("bench", v) }
	if guid("2025.02") == guid("2025.03") || guid("2025.02") == output.Canary("other", "2025.02") {
		t.Fatal("two versions or datasets have one canary")
	}
	v := filepath.Join(dir, "2025.03")
	for name := range files(t, v) {
		b, base := unpacked(t, name, read(t, filepath.Join(v, name))), filepath.Base(name)
		want := guid("2025.03")
		if strings.Contains(name, one.id()) {
			want = guid("2025.02")
		}
		switch {
		case base == "statement.md", strings.Contains(name, "/setup/"), strings.Contains(name, "/run/"), strings.HasPrefix(name, "blobs/"), strings.HasPrefix(name, "LICENSES/"):
			if strings.Contains(b, output.CanaryWords) || strings.Contains(b, want) {
				t.Errorf("a solver sees the canary in %s", name)
			}
		case base == output.ChecksumsFile, filepath.Ext(name) == ".parquet":
		case strings.HasPrefix(name, "data/"):
			for line := range strings.Lines(b) {
				if of := map[bool]string{true: guid("2025.02"), false: guid("2025.03")}[strings.Contains(line, one.id())]; strings.Count(line, of) != 1 {
					t.Errorf("%s: a row without its canary", name)
				}
			}
		default:
			if !strings.Contains(b, want) || base != output.ManifestFile && !strings.Contains(b, output.CanaryWords) {
				t.Errorf("%s is without the canary", name)
			}
		}
	}
	base, err := dataset(t, dir, "2025.03").Base(dataset(t, dir, "2025.03").Rows[0].Row)
	must(t, err)
	if slices.ContainsFunc(base.Entries(), func(e tree.Entry) bool { return strings.Contains(string(e.Data), output.CanaryWords) }) {
		t.Error("a base tree holds the canary")
	}
}

func dataset(t testing.TB, dir string, v Version) *output.Dataset {
	t.Helper()
	s, err := Read(dir)
	must(t, err)
	d, err := s.Dataset(v)
	must(t, err)
	return d
}

// TestCanaryGateReads: the gate finds a text without the canary and a file for solvers with it.
func TestCanaryGateReads(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one := widget(1, "2025-01-10")
	c := publish(t, dir, options(work(t, nil, one), "2025-02-01"))
	v := filepath.Join(dir, "2025.02")
	for name, spoil := range map[string]func(string) string{
		"tasks/acme__widget-1/gold.patch":   func(s string) string { _, rest, _ := strings.Cut(s, "\n"); return rest },
		"tasks/acme__widget-1/statement.md": func(s string) string { return s + output.CanaryText("x") },
		"NOTICE.md":                         func(string) string { return "# Notice\n" },
		"":                                  func(s string) string { return s },
	} {
		was := ""
		if name != "" {
			was = read(t, filepath.Join(v, name))
			put(t, filepath.Join(v, name), spoil(was))
		}
		a, err := gates["canary"].Read(context.Background(), c, v)
		must(t, err)
		if got := slices.ContainsFunc(a.Refuse, func(o Objection) bool { return strings.HasPrefix(o.Text, name+": ") }); got != (name != "") {
			t.Errorf("%q: %v", name, a.Refuse)
		}
		if name != "" {
			put(t, filepath.Join(v, name), was)
		}
	}
}
