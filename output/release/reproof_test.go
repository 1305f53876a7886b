package release

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/reproof"
	"github.com/benchmint/benchmint/schemas"
)

// book is a ledger that tests write.
type book struct {
	t    *testing.T
	file string
}

// runs adds runs of a row on a date; edit may change each.
func (b book) runs(d *output.Dataset, id, date string, n int, edit func(i int, r *schemas.Reproof)) {
	b.t.Helper()
	row, err := d.Row(id)
	must(b.t, err)
	ground, _, err := d.Digests(row)
	must(b.t, err)
	w, err := reproof.Append(b.file)
	must(b.t, err)
	for i := range n {
		r := schemas.Reproof{Task: id, Ground: ground, Lists: reproof.Lists(row), Date: date, Clock: schemas.OwnClock, State: schemas.AnsweredGold, Number: i + 1, End: schemas.RerunPasses, Log: "sha256:aa"}
		if edit != nil {
			edit(i, &r)
		}
		must(b.t, w.Add(r))
	}
	must(b.t, w.Close())
}

func failing(f2p, p2p []string) func(int, *schemas.Reproof) {
	return func(_ int, r *schemas.Reproof) {
		r.End, r.FailToPass, r.PassToPass = schemas.RerunFails, f2p, p2p
	}
}

func answered(s schemas.Answered, end schemas.RerunEnd) func(int, *schemas.Reproof) {
	return func(_ int, r *schemas.Reproof) { r.State, r.End = s, end }
}

// again are options that ask for re-proof on two dates, on a day.
func (b book) again(w *output.Dataset, asOf, today string) Options {
	o := options(w, asOf)
	o.Reproof = Reproof{Ledgers: []string{b.file}, Wanted: reproof.Wanted{Gold: 2, Nop: 1, Forged: 1, Dates: 2}}
	now, err := time.Parse(time.DateOnly, today)
	must(b.t, err)
	o.Now = func() time.Time { return now }
	return o
}

// proves adds what two dates ask for.
func (b book) proves(d *output.Dataset, id string, dates ...string) {
	for i, date := range dates {
		b.runs(d, id, date, 1, nil)
		if i == 0 {
			b.runs(d, id, date, 1, answered(schemas.AnsweredNop, schemas.RerunFails))
			b.runs(d, id, date, 1, answered(schemas.AnsweredForged, schemas.RerunFails))
		}
	}
}

// TestReproofDates: a version waits for another date, and is written after it.
func TestReproofDates(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	b := book{t, filepath.Join(t.TempDir(), reproof.File)}
	w := work(t, nil, widget(1, "2025-01-10"), widget(2, "2025-01-11"))
	waits := func(today, from string, tasks int) {
		t.Helper()
		_, err := plan(dir, b.again(w, "2025-02-01", today), true)
		var later *LaterError
		if !errors.As(err, &later) || later.From != from || later.Tasks != tasks || later.Of != 2 || !strings.Contains(err.Error(), "run again from "+from+" on") {
			t.Errorf("%s: %v, want from %s", today, err, from)
		}
		if _, err := Read(dir); !errors.Is(err, ErrNoShelf) {
			t.Errorf("it is written: %v", err)
		}
	}
	waits("2025-02-03", "2025-02-04", 2) // nothing was run: today and tomorrow
	b.proves(w, "acme__widget-1", "2025-02-03")
	b.proves(w, "acme__widget-2", "2025-02-03")
	waits("2025-02-03", "2025-02-04", 2)
	waits("2025-02-05", "2025-02-05", 2) // the other date can be this one
	b.runs(w, "acme__widget-1", "2025-02-05", 1, nil)
	waits("2025-02-05", "2025-02-05", 1)
	o := b.again(w, "2025-02-01", "2025-02-05")
	o.Reproof.Leave = true
	s, err := Open(context.Background(), dir, "bench")
	must(t, err)
	c, err := s.Plan(context.Background(), o)
	s.Close()
	must(t, err)
	if len(c.Tasks) != 1 || len(c.Left) != 1 || c.Left[0].Gate != "reproof" || c.Left[0].ID != "acme__widget-2" {
		t.Errorf("%v left", c.Left)
	}
	b.runs(w, "acme__widget-2", "2025-02-05", 1, nil)
	publish(t, dir, b.again(w, "2025-02-01", "2025-02-05"))
	if got := idsOf(t, dir, "2025.02"); len(got) != 2 {
		t.Errorf("%v", got)
	}
	lines, err := reproof.Lines(filepath.Join(dir, "2025.02", reproof.File))
	if err != nil || len(lines) != 8 {
		t.Errorf("%d lines in the version, %v", len(lines), err)
	}
	if g := record(t, dir, "2025.02").Gates; !slices.ContainsFunc(g, func(r GateResult) bool { return r.Name == "reproof" && r.State == Held && r.Figures["dates"] == 2 }) {
		t.Errorf("%+v", g)
	}
	card := read(t, filepath.Join(dir, "2025.02", output.CardFile))
	if !strings.Contains(card, "New tasks were proved on 2 dates or more") {
		t.Error("the card does not say on how many dates tasks were proved")
	}
	// Old tasks need no run for the next version.
	next := work(t, nil, widget(1, "2025-01-10"), widget(2, "2025-01-11"), widget(3, "2025-02-11"))
	b.proves(next, "acme__widget-3", "2025-03-01", "2025-03-02")
	publish(t, dir, b.again(next, "2025-03-01", "2025-03-02"))
}

// TestReproofOutcomes: what runs say of published tasks enters the next version.
func TestReproofOutcomes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		run       func(b book, d *output.Dataset, id string)
		held      schemas.Withdrawal
		withdrawn schemas.Withdrawal
		reasons   []string
		marks     []string
		lists     int // tests that are left in both lists
	}{
		"proved": {run: func(b book, d *output.Dataset, id string) { b.runs(d, id, "2025-02-20", 3, nil) }, lists: 3},
		"narrowed": {run: func(b book, d *output.Dataset, id string) {
			b.runs(d, id, "2025-02-20", 3, func(i int, r *schemas.Reproof) {
				if i == 1 {
					r.End, r.PassToPass = schemas.RerunFails, []string{guarding}
				}
			})
		}, reasons: []string{"1 flaky tests left the lists"}, lists: 2},
		"held": {run: func(b book, d *output.Dataset, id string) {
			b.runs(d, id, "2025-02-20", 3, failing([]string{deciding}, nil))
		}, held: schemas.ForGoldFails},
		"withdrawn": {run: func(b book, d *output.Dataset, id string) {
			b.runs(d, id, "2025-02-20", 3, failing([]string{deciding}, nil))
			b.runs(d, id, "2025-02-21", 3, failing([]string{deciding}, nil))
		}, withdrawn: schemas.ForGoldFails},
		"nop_passes": {run: func(b book, d *output.Dataset, id string) {
			b.runs(d, id, "2025-02-20", 3, nil)
			b.runs(d, id, "2025-02-20", 1, answered(schemas.AnsweredNop, schemas.RerunPasses))
		}, withdrawn: schemas.ForNopPasses},
		"forged_passes": {run: func(b book, d *output.Dataset, id string) {
			b.runs(d, id, "2025-02-20", 1, answered(schemas.AnsweredForged, schemas.RerunPasses))
		}, withdrawn: schemas.ForForgedPasses},
		"clock_bound": {run: func(b book, d *output.Dataset, id string) {
			b.runs(d, id, "2025-02-20", 1, nil)
			b.runs(d, id, "2025-02-20", 1, func(_ int, r *schemas.Reproof) {
				r.Clock, r.End, r.FailToPass = "+400d", schemas.RerunFails, []string{deciding}
			})
		}, reasons: []string{"marked by re-proof: clock_bound:+400d"}, marks: []string{"clock_bound:+400d"}, lists: 3},
		"environment_lost": {run: func(b book, d *output.Dataset, id string) {
			b.runs(d, id, "2025-02-20", 1, func(_ int, r *schemas.Reproof) { r.End, r.Detail = schemas.RerunNoEnvironment, "no such wheel" })
		}, held: schemas.ForEnvironmentLost},
		"other_lists": {run: func(b book, d *output.Dataset, id string) { // they say nothing of this row
			b.runs(d, id, "2025-02-20", 3, func(_ int, r *schemas.Reproof) {
				r.End, r.FailToPass, r.Lists = schemas.RerunFails, []string{deciding}, "sha256:cc"
			})
		}, lists: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "releases")
			one, two := widget(1, "2025-01-10"), widget(2, "2025-01-11")
			two.repo = "acme/gear" // a flake is of its repository
			b := book{t, filepath.Join(t.TempDir(), reproof.File)}
			publish(t, dir, options(work(t, nil, one, two), "2025-02-01"))
			published := dataset(t, dir, "2025.02")
			tc.run(b, published, one.id())
			o := b.again(work(t, nil, one, two), "2025-03-01", "2025-03-02")
			c, err := plan(dir, o, false)
			must(t, err)
			if tc.held == "" && tc.withdrawn == "" && tc.reasons == nil {
				if !c.Nothing() {
					t.Errorf("something is new: %+v", c.Diff)
				}
				return
			}
			publish(t, dir, o)
			feed := feedOf(t, dir)
			if got := fmt.Sprint(reasonsOf(feed.Held), reasonsOf(feed.Withdrawals)); got != fmt.Sprint(only(tc.held), only(tc.withdrawn)) {
				t.Fatalf("held and withdrawn: %s", got)
			}
			if tc.lists == 0 {
				if slices.Contains(idsOf(t, dir, "2025.03"), one.id()) {
					t.Error("it is in the version")
				}
				return
			}
			row, err := dataset(t, dir, "2025.03").Row(one.id())
			must(t, err)
			p := row.Benchmint.Release
			if len(row.FailToPass)+len(row.PassToPass) != tc.lists || !slices.Equal(p.Revised, tc.reasons) || !slices.Equal(p.Marks, tc.marks) || p.Revision != 1 {
				t.Errorf("%d tests, %+v", len(row.FailToPass)+len(row.PassToPass), p)
			}
			same(t, "the other task", taskOf(t, dir, "2025.02", two.id()), taskOf(t, dir, "2025.03", two.id()))
		})
	}
}

func reasonsOf(all []Withdrawn) (out []schemas.Withdrawal) {
	for _, w := range all {
		out = append(out, w.Reason)
	}
	return out
}

func only(r schemas.Withdrawal) []schemas.Withdrawal {
	if r == "" {
		return nil
	}
	return []schemas.Withdrawal{r}
}

// TestReproofHeld: a held task is withdrawn after a second bad date, or comes back after two good ones; not before.
func TestReproofHeld(t *testing.T) {
	t.Parallel()
	for _, good := range []bool{true, false} {
		t.Run(fmt.Sprint(good), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "releases")
			one, two := widget(1, "2025-01-10"), widget(2, "2025-01-11")
			b := book{t, filepath.Join(t.TempDir(), reproof.File)}
			w := work(t, nil, one, two)
			publish(t, dir, options(w, "2025-02-01"))
			published := dataset(t, dir, "2025.02")
			b.runs(published, one.id(), "2025-02-20", 3, failing([]string{deciding}, nil))
			publish(t, dir, b.again(w, "2025-03-01", "2025-03-02"))
			back := b.again(w, "2025-04-01", "2025-04-02")
			back.Back = []string{one.id()}
			if _, err := plan(dir, back, true); err == nil || !strings.Contains(err.Error(), "two later dates") {
				t.Errorf("it comes back at once: %v", err)
			}
			for _, date := range []string{"2025-03-20", "2025-03-21"} {
				if good {
					b.runs(published, one.id(), date, 3, nil)
				} else {
					b.runs(published, one.id(), date, 3, failing([]string{deciding}, nil))
				}
			}
			if !good {
				publish(t, dir, b.again(work(t, nil, one, two, widget(3, "2025-03-11")), "2025-04-01", "2025-04-02").with(b, "acme__widget-3"))
				if f := feedOf(t, dir); len(f.Held) != 0 || len(f.Withdrawals) != 1 || f.Withdrawals[0].Reason != schemas.ForGoldFails || f.Withdrawals[0].Evidence == "" {
					t.Errorf("%+v", f)
				}
				return
			}
			c, err := plan(dir, b.again(w, "2025-04-01", "2025-04-02"), false)
			must(t, err)
			if !strings.Contains(strings.Join(c.Decide, " "), "--back brings it in") {
				t.Errorf("nobody is told that it holds again: %v", c.Decide)
			}
			c = publish(t, dir, back)
			if len(c.Diff.Back) != 1 || !slices.Contains(idsOf(t, dir, "2025.04"), one.id()) {
				t.Errorf("%+v", c.Diff)
			}
		})
	}
}

// with proves a new task of the working dataset on two dates.
func (o Options) with(b book, id string) Options {
	b.proves(o.Work, id, "2025-04-01", "2025-04-02")
	return o
}

// TestReproofPurged: the runs of a purged task leave the versions with it.
func TestReproofPurged(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	b := book{t, filepath.Join(t.TempDir(), reproof.File)}
	w := work(t, nil, widget(1, "2025-01-10"), widget(2, "2025-01-11"))
	for _, id := range []string{"acme__widget-1", "acme__widget-2"} {
		b.proves(w, id, "2025-02-03", "2025-02-04")
	}
	publish(t, dir, b.again(w, "2025-02-01", "2025-02-04"))
	corrected(t, dir, Act{IDs: []string{"acme__widget-1"}, Reason: schemas.ForTakeDown, Text: "its owner asks", Purge: true})
	text := read(t, filepath.Join(dir, "2025.02", reproof.File))
	if strings.Contains(text, "acme__widget-1") || strings.Count(text, "acme__widget-2") != 4 {
		t.Errorf("%s", text)
	}
}
