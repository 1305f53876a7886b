package validate

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

func commandOf(name string) []schemas.Command { return []schemas.Command{{Argv: []string{name}}} }

// TestRivals: a suite that does not hold what the changed files show is the recipe's
// fault; the next command of the recipe takes its place.
func TestRivals(t *testing.T) {
	t.Parallel()
	const bench = "b finished speed=passed\nend"
	for name, tc := range map[string]struct {
		script reports
		rivals []schemas.Rival
		want   []string
		reason schemas.Reason
		test   []schemas.Command
		tried  int // runs that are no evidence any more
		detail string
	}{
		"the_next_command_holds_them": {
			script: reports{"S changed": fails, "G changed": passes, "S": bench, "G": bench, "all S": fails, "all G": passes},
			rivals: []schemas.Rival{{Test: commandOf("lint"), Other: "by its name"}, {Test: commandOf("all")}},
			want:   []string{"G changed 1", "S changed 1", "S suite 1", "G suite 1", "all S suite 1", "all G suite 1"},
			reason: "valid", test: commandOf("all"), tried: 2,
		},
		"one_after_another": {
			script: reports{"S changed": fails, "G changed": passes, "S": bench, "G": bench, "docs S": bench, "docs G": bench, "all S": fails, "all G": passes},
			rivals: []schemas.Rival{{Test: commandOf("docs")}, {Test: commandOf("all")}},
			want:   []string{"G changed 1", "S changed 1", "S suite 1", "G suite 1", "docs S suite 1", "docs G suite 1", "all S suite 1", "all G suite 1"},
			reason: "valid", test: commandOf("all"), tried: 4,
		},
		"no_command_holds_them": {
			script: reports{"S changed": fails, "G changed": passes, "S": bench, "G": bench, "docs S": bench, "docs G": bench},
			rivals: []schemas.Rival{{Test: commandOf("docs")}, {Test: commandOf("lint"), Other: "by its name"}},
			want:   []string{"G changed 1", "S changed 1", "S suite 1", "G suite 1", "docs S suite 1", "docs G suite 1"},
			reason: schemas.NoRecipe, test: commandOf("docs"), tried: 2, detail: "(a::t); tried: test; docs",
		},
		"an_option_leaves_the_changed_tests_out": {
			script: reports{"G changed": "a finished\nend", "all S": fails, "all G": passes},
			rivals: []schemas.Rival{{Test: commandOf("all")}},
			want:   []string{"G changed 1", "all G changed 1", "all S changed 1", "all S suite 1", "all G suite 1"},
			reason: "valid", test: commandOf("all"), tried: 1,
		},
		"a_suite_that_is_cut_short_says_nothing": {
			script: reports{"S changed": fails, "G changed": passes, "S": bench, "G": "a aborted\nend"},
			rivals: []schemas.Rival{{Test: commandOf("all")}},
			want:   []string{"G changed 1", "S changed 1", "S suite 1", "G suite 1"},
			reason: schemas.NoF2P,
		},
		"one_that_is_held_is_enough": {
			script: reports{"S": fails, "G changed": passes + "\nx finished t=passed\nend", "G": passes},
			rivals: []schemas.Rival{{Test: commandOf("all")}},
			want:   []string{"G changed 1", "S changed 1", "S suite 1", "G suite 1"},
			reason: "valid",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.script.script)
			b.cfg.Runs = 1
			b.c.Environment.Recipe.Test, b.c.Environment.Recipe.Rivals = commandOf("test"), tc.rivals
			proof, err := b.prove(t)
			if got := reason(err); got != tc.reason {
				t.Errorf("end is %s, want %s (%v)", got, tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, b.box.runs); diff != "" {
				t.Errorf("order of work (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.test, proof.Test); diff != "" {
				t.Errorf("command of the proof (-want +got):\n%s", diff)
			}
			tried := 0
			for _, r := range proof.Runs {
				if r.Scope == testrun.ScopeTried {
					tried++
				}
			}
			if tried != tc.tried {
				t.Errorf("%d runs are marked as tried, want %d", tried, tc.tried)
			}
			var r *pipeline.Rejected
			if errors.As(err, &r) && !strings.Contains(r.Detail(), tc.detail) {
				t.Errorf("detail %q lacks %q", r.Detail(), tc.detail)
			}
		})
	}
}
