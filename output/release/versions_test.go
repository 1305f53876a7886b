package release

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/output"
)

// TestOldTasksAreCopied: whatever the working dataset says of a published task, its row and folder
// stay to the byte.
func TestOldTasksAreCopied(t *testing.T) {
	t.Parallel()
	first := widget(1, "2025-01-10")
	renamed, retagged, retold, rekeyed := first, first, first, first
	renamed.repo = "acme/gadget"
	retagged.tag = "v2.0"
	retold.statement = "I want something else.\n"
	rekeyed.key = "environment of a later program"
	for _, tt := range []struct {
		name    string
		now     []change
		carried bool
		left    string
	}{
		{name: "later_tag", now: []change{retagged}},
		{name: "other_statement", now: []change{retold}},
		{name: "other_program", now: []change{rekeyed}},
		{name: "repository_gone", carried: true},
		{name: "repository_renamed", now: []change{renamed}, carried: true, left: "under another name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "releases")
			publish(t, dir, options(work(t, nil, first), "2025-02-01"))
			c := publish(t, dir, options(work(t, nil, append(tt.now, widget(2, "2025-02-10"))...), "2025-03-01"))
			before, after := taskOf(t, dir, "2025.02", first.id()), taskOf(t, dir, "2025.03", first.id())
			same(t, "the published task", before, after)
			if got := idsOf(t, dir, "2025.03"); !slices.Equal(got, []string{first.id(), widget(2, "").id()}) {
				t.Errorf("2025.03 has %q", got)
			}
			if _, ok := c.Carried["acme/widget"]; ok != tt.carried {
				t.Errorf("carried: %v", c.Carried)
			}
			if len(c.Left) > 0 != (tt.left != "") || tt.left != "" && !strings.Contains(c.Left[0].Text, tt.left) {
				t.Errorf("left out: %v", c.Left)
			}
			if s := c.Summary("published", Cost{}); tt.carried && !strings.Contains(s, "acme/widget: 1 task of the version before") {
				t.Errorf("the summary does not name the repository:\n%s", s)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two := widget(1, "2025-01-10"), widget(2, "2025-02-10")
	publish(t, dir, options(work(t, nil, one, two, widget(5, "2025-02-01")), "2025-02-01")) // the day itself is out
	if got := idsOf(t, dir, "2025.02"); !slices.Equal(got, []string{one.id()}) {
		t.Errorf("a task that landed after the day is in: %q", got)
	}
	if c, err := plan(dir, options(work(t, nil, one), "2025-03-01"), false); err != nil || !c.Nothing() {
		t.Errorf("nothing is new: %v", err)
	}
	before := contents(t, dir)
	for name, o := range map[string]Options{
		"same_month": options(work(t, nil, one, two), "2025-02-15"),
		"older":      options(work(t, nil, one, two), "2025-03-01"),
	} {
		if name == "older" {
			o.Version = "2025.01"
		}
		c, err := plan(dir, o, true)
		if !errors.Is(err, ErrThere) {
			t.Errorf("%s: %v", name, err)
		} else if !c.Published() || c.Nothing() {
			t.Errorf("%s: published %v, nothing %v", name, c.Published(), c.Nothing())
		}
		same(t, name, before, contents(t, dir))
	}
	o := options(work(t, nil, one, two), "2025-03-01")
	o.Version = "2025.03.1"
	if _, err := plan(dir, o, true); err == nil || !strings.Contains(err.Error(), "correction") {
		t.Errorf("a correction with new tasks: %v", err)
	}
	old := map[string]string{}
	for name, b := range before {
		if name != FeedFile {
			old[name] = b
		}
	}
	publish(t, dir, options(work(t, nil, one, two), "2025-03-01"))
	if got := corrected(t, dir, Act{IDs: []string{two.id()}, Reason: "unfair", Text: "No."}).Version; got != "2025.03.1" {
		t.Errorf("the correction is %s", got)
	}
	publish(t, dir, options(work(t, nil, one, two, widget(3, "2025-03-03")), "2025-04-01"))
	if got := versions(t, dir); !slices.Equal(got, []Version{"2025.02", "2025.03", "2025.03.1", "2025.04"}) {
		t.Errorf("versions: %q", got)
	}
	now := contents(t, dir)
	for name := range now {
		if name == FeedFile || !strings.HasPrefix(name, "2025.02/") {
			delete(now, name)
		}
	}
	same(t, "the first version", old, now)
}

// TestFolderThatTheFeedDoesNotName: it is somebody's, and stays.
func TestFolderThatTheFeedDoesNotName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	w := work(t, nil, widget(1, "2025-01-10"), widget(2, "2025-02-10"))
	publish(t, dir, options(w, "2025-02-01"))
	put(t, filepath.Join(dir, "2025.03", "thesis.tex"), "x")
	before := contents(t, dir)
	if _, err := plan(dir, options(w, "2025-03-01"), true); !errors.Is(err, ErrThere) {
		t.Errorf("got %v", err)
	}
	same(t, "the shelf", before, contents(t, dir))
}

// TestSameBytesAgain: a release that is made again has equal bytes in all that digests cover.
func TestSameBytesAgain(t *testing.T) {
	t.Parallel()
	make := func() string {
		dir := filepath.Join(t.TempDir(), "releases")
		publish(t, dir, options(work(t, nil, widget(1, "2025-01-10"), widget(2, "2025-01-11")), "2025-02-01"))
		publish(t, dir, options(work(t, []ledgerFlake{flaky(guarding)}, widget(3, "2025-02-11")), "2025-03-01"))
		corrected(t, dir, Act{IDs: []string{widget(2, "").id()}, Reason: "unfair", Text: "No."})
		return dir
	}
	a, b := make(), make()
	same(t, "two makings", contents(t, a), contents(t, b))
	if x, y := read(t, filepath.Join(a, "2025.02", output.TimingsFile)), read(t, filepath.Join(b, "2025.02", output.TimingsFile)); x == y {
		t.Error("the times are equal: the comparison proves nothing of what is measured")
	}
}

func TestVersionNames(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"2025.13", "2025.00", "2025.1", "2025.01.0", "v2025.01", "2025.01.1.1", "2025-01", ""} {
		if _, err := ParseVersion(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
	order := []Version{"2024.12", "2025.01", "2025.01.1", "2025.01.2", "2025.01.10", "2025.02", "2025.10"}
	shuffled := slices.Clone(order)
	slices.Reverse(shuffled)
	slices.SortFunc(shuffled, Version.Compare)
	if !slices.Equal(order, shuffled) {
		t.Errorf("order: %q", shuffled)
	}
	if got := Version("2025.01.9").NextCorrection(); got != "2025.01.10" {
		t.Errorf("next: %s", got)
	}
}
