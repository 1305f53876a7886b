package storetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
)

func testForks(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=~1 b=1 c=+1")
	d.Run()
	d.Packs("a=1", "b=1", "c=+1", "ct=1")
	var sent []string
	for _, o := range d.Is("grow", "s", "done").Outputs {
		sent = append(sent, o.Key+" to "+o.To)
	}
	if diff := cmp.Diff([]string{"a to trim", "b to note", "c to note", "c to trim"}, sent); diff != "" {
		t.Errorf("what grow made (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		what, seed string
		runs       []string
	}{
		{"a branch is withdrawn", "s=b=1", []string{"grow/s", "pack/"}},
		{"and comes back with its results", "s=a=~1 b=1 c=+1", []string{"grow/s", "pack/"}},
		{"one goes over to the other branch, with equal results", "s=a=1 b=1 c=+1", []string{"grow/s", "pack/"}},
		{"and back: the branch has lost it, and makes it anew", "s=a=~1 b=1 c=+1", []string{"grow/s", "trim/a", "pack/"}},
		{"of two ways it takes one", "s=a=~1 b=1 c=~1", []string{"grow/s", "trim/c", "note/c", "make/c", "judge/c", "pack/"}},
	} {
		d.Ran = nil
		d.Seed(c.seed)
		t.Log(c.what)
		d.Run()
		d.Runs(c.runs...)
		d.Sound()
	}
	d.Packs("a=1", "b=1", "c=1")
	d.Ran = nil
	d.Version("trim", "2")
	d.Begin()
	d.Run()
	d.Runs("trim/a", "trim/c")

	d.Seed("s=a=1", "r=x=1")
	for _, c := range d.Take("grow", 2) {
		s := Done(c, "y=1")
		if s.Outputs[0].To = "judge"; c.Key == "s" {
			s.Outputs[0].To = ""
		}
		if got := d.End(s); got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "does not follow it") {
			t.Errorf("a record for %q: %+v", s.Outputs[0].To, got)
		}
		d.Is("grow", c.Key, "failed")
	}
	d.Sound()
}

func testBranchesContest(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=c=+1 ct=1")
	d.Run()
	if s := d.Is("trim", "c", "failed"); !strings.Contains(s.Detail, "ct of stage note is made by both grow s and trim c") {
		t.Errorf("detail %q", s.Detail)
	}
	d.Packs("c=+1", "ct=1")
	d.Sound()
	// The next run finds the plan mended.
	d.Seed("s=c=+1")
	d.Run()
	d.Begin()
	d.Run()
	d.Packs("c=+1", "ct=1")
	// Where one record is contested, no stage is given any.
	d.Seed("s=c=+1", "r=a=~1 ct=1 z=1")
	d.Run()
	if s := d.Is("grow", "r", "failed"); !strings.Contains(s.Detail, "ct of stage note is made by both trim c and grow r") {
		t.Errorf("detail %q", s.Detail)
	}
	d.Is("trim", "a", "")
	d.Is("note", "z", "")
	d.Packs("c=+1", "ct=1")
	d.Sound()
}
