package mask_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	masks "github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/mask"
)

// loads answers for an environment: what the release did when it was loaded, then each starter.
type loads struct {
	answers []masks.Load
	asked   int
}

func (l *loads) Open(context.Context, schemas.Cut, string, *tree.Tree) (mask.Loading, error) {
	return l, nil
}

func (l *loads) Load(context.Context, *tree.Tree) (masks.Load, error) {
	l.asked++
	return l.answers[min(l.asked, len(l.answers))-1], nil
}

// TestLoad keeps what ran when the release was loaded, and then what a starter did not load without.
func TestLoad(t *testing.T) {
	t.Parallel()
	body := func(name string) string {
		return "\n\ndef " + name + "(a):\n    b = a + 1\n    c = b + 2\n    return c\n"
	}
	history := "-- commit: Release --\n-- widget.py --\n\"\"\"A widget.\"\"\"\n" + body("ran") + body("hidden") + body("plain") +
		"\n\nFIRST = plain(1)\n-- widget.js --\nfunction f() { return 1; }\n-- tests/test_widget.py --\nfrom widget import ran\n\n\ndef test_ran():\n    assert ran(1) == 4\n"
	ran := masks.Load{Units: 1, Ran: []masks.Seen{{Path: "widget.py", Line: 4, Name: "ran", First: "widget.py:20"}, {Path: "widget.py", Line: 10, Name: "other"}}}
	dead := masks.Load{Units: 1, Failed: []masks.NotLoaded{{Unit: "widget", Message: "NotImplementedError: masked: hidden", Path: "widget.py"}}}
	tests := masks.Load{Units: 1, Ran: append([]masks.Seen{{Path: "widget.py", Line: 10, Name: "hidden", Tests: true}}, ran.Ran...)}
	unread := masks.Load{Units: 1, Failed: []masks.NotLoaded{{Unit: "tests tests/test_widget.py", Message: "NotImplementedError: masked: hidden", Tests: true}}}
	silent := masks.Load{Units: 1, Failed: []masks.NotLoaded{{Unit: "widget", Message: "KeyError: 'x'"}}}
	late := masks.Load{Units: 1, Failed: []masks.NotLoaded{{Unit: "widget", Message: "not imported within 60 s", Late: true}}}
	const failed = schemas.Reason("no verdict")
	for name, c := range map[string]struct {
		answers []masks.Load
		asked   int
		kept    []string
		reject  schemas.Reason
		most    float64 // share of the lines that may stay
	}{
		"what_ran_stays_alone":     {[]masks.Load{ran, ran}, 2, []string{"ran"}, "", 1},
		"what_an_error_names_too":  {[]masks.Load{ran, dead, ran}, 3, []string{"ran", "hidden"}, "", 1},
		"a_fault_of_the_release":   {[]masks.Load{{Units: 1, Failed: dead.Failed}, dead}, 2, nil, "", 1},
		"an_error_that_names_none": {[]masks.Load{ran, silent}, 3, nil, schemas.StarterDead, 1},
		"a_late_one_is_no_verdict": {[]masks.Load{ran, late}, 3, nil, failed, 1},
		"a_silent_one_is_retried":  {[]masks.Load{ran, silent, ran}, 3, []string{"ran"}, "", 1},
		"what_tests_ran_stays":     {[]masks.Load{tests, ran}, 2, []string{"ran", "hidden"}, "", 1},
		"unless_too_much_stays":    {[]masks.Load{tests, ran, unread}, 3, []string{"ran"}, "", 0.5},
		"named_and_kept_already":   {[]masks.Load{ran, dead, dead}, 3, nil, schemas.StarterDead, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := open(t, gitrepotest.New(t, history))
			defer repo.Close()
			blobs, err := blob.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			config := mask.Default()
			config.MaxLinesLeft, config.MinLanguage = c.most, 0.5
			of := &loads{answers: c.answers}
			m, err := mask.New(one{repo}, blobs, plugins.Languages(), plugins.Maskers(), of, config)
			if err != nil {
				t.Fatal(err)
			}
			info := repo.Info()
			start, err := m.Run(t.Context(), schemas.Cut{Repo: info.Name, RepoRoot: info.Root, Profile: "strict", Release: schemas.Release{Tag: "v1.0", Version: "1.0", Commit: info.Head}})
			var rejected *pipeline.Rejected
			if errors.As(err, &rejected) != (c.reject != "" && c.reject != failed) || (err != nil) != (c.reject != "") || rejected != nil && rejected.Reason != c.reject {
				t.Fatalf("%v, want %q", err, c.reject)
			}
			if of.asked != c.asked {
				t.Errorf("loaded %d times, want %d", of.asked, c.asked)
			}
			if err != nil {
				return
			}
			patch, err := blobs.Get(start.Patch)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []string{"ran", "hidden", "plain"} {
				if masked := strings.Contains(string(patch), "masked: "+f); masked == slices.Contains(c.kept, f) {
					t.Errorf("%s: masked %t", f, masked)
				}
			}
			if strings.Contains(string(patch), "widget.js") {
				t.Error("a file in another language than the task's was masked")
			}
		})
	}
}
