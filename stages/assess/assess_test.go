package assess_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/assess"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

func run(t testing.TB, b *box, max int, start, solution map[string]string) (schemas.Adequacy, error) {
	t.Helper()
	c, proof := caseOf(t, start, solution)
	a, err := assess.New(outside(b), assess.Config{MaxHunks: max})
	if err != nil {
		t.Fatal(err)
	}
	return a.Assess(t.Context(), c, proof)
}

// said is a record as lines: "path hunk end tests limit", then the counts.
func said(a schemas.Adequacy) []string {
	var out []string
	for _, h := range a.Hunks {
		line := fmt.Sprintf("%s %d %s", h.Path, h.Hunk, h.End)
		for _, x := range append(h.Tests, string(h.Limit)) {
			if x != "" {
				line += " " + x
			}
		}
		out = append(out, line)
	}
	last := fmt.Sprintf("%d noticed, %d skipped", a.Noticed, a.Skipped)
	for _, why := range slices.Sorted(maps.Keys(a.SkippedFor)) {
		last += fmt.Sprintf(" %s=%d", why, a.SkippedFor[why])
	}
	return append(out, last)
}

const tests = "t alpha\nu beta\nkept one\n"

// alone is a run of a file without the test that passes before the change.
const alone = "test_a.toy -test_a.toy::kept"

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		start, solution map[string]string
		max             int
		want            []string
		runs            []string
	}{
		"each_hunk_alone": {
			start:    map[string]string{"code.toy": "one\ntwo\n", "test_a.toy": tests},
			solution: map[string]string{"code.toy": "alpha\none\nbeta\ntwo\nidle\n", "test_a.toy": tests},
			want: []string{
				"code.toy 0 noticed test_a.toy::t", "code.toy 1 noticed test_a.toy::u", "code.toy 2 unnoticed", "2 noticed, 0 skipped",
			},
			runs: []string{alone, alone, alone, alone},
		},
		"a_test_that_needs_its_neighbour_runs_with_it": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "after alpha\nt beta\nkept one\n"},
			solution: map[string]string{"code.toy": "one\nalpha\nbeta\n", "test_a.toy": "after alpha\nt beta\nkept one\n"},
			want:     []string{"code.toy 0 noticed test_a.toy::after test_a.toy::t", "1 noticed, 0 skipped"},
			runs:     []string{alone, "test_a.toy", "test_a.toy"},
		},
		"only_files_with_fail_to_pass_run": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\n", "test_b.toy": "kept one\n"},
			solution: map[string]string{"code.toy": "one\nalpha\n", "test_a.toy": "t alpha\n", "test_b.toy": "kept one\n"},
			want:     []string{"code.toy 0 noticed test_a.toy::t", "1 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy"},
		},
		"what_fails_to_pass_needs_is_what_counts": { // kept is pass_to_pass
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\nkept one\n"},
			solution: map[string]string{"code.toy": "alpha\n", "more.toy": "one\n", "test_a.toy": "t alpha\nkept one\n"},
			want:     []string{"code.toy 0 noticed test_a.toy::t", "more.toy 0 unnoticed", "1 noticed, 0 skipped"},
			runs:     []string{alone, alone, alone},
		},
		"half_of_an_edit_is_skipped": {
			start:    map[string]string{"code.py": "one\ntwo\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.py": "f(\none\n)\ntwo\nalpha\n", "test_a.toy": "t alpha\n"},
			want:     []string{"code.py 2 noticed test_a.toy::t", "1 noticed, 2 skipped syntax=2"},
			runs:     []string{"test_a.toy", "test_a.toy"},
		},
		"new_and_deleted_files": {
			start:    map[string]string{"old.toy": "broken\n", "code.toy": "one\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"new.toy": "alpha\n", "code.toy": "one\n", "test_a.toy": "t alpha\n"},
			want:     []string{"new.toy 0 noticed test_a.toy::t", "old.toy 0 unbuilt test_a.toy::t", "2 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy", "test_a.toy"},
		},
		"no_report_is_unbuilt": {
			start:    map[string]string{"code.toy": "mute\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "alpha\n", "test_a.toy": "t alpha\n"},
			want:     []string{"code.toy 0 unbuilt test_a.toy::t", "1 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy"},
		},
		"a_build_that_fails_is_left_out": { // the tests decide, as in a proof
			start:    map[string]string{"code.toy": "unbuildable\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "", "more.toy": "alpha\n", "test_a.toy": "t alpha\n"},
			want:     []string{"code.toy 0 unnoticed", "more.toy 0 noticed test_a.toy::t", "1 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy", "test_a.toy"},
		},
		"limits_notice": {
			start:    map[string]string{"code.toy": "hang\n", "fast.c": "x\n", "more.toy": "hog\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "", "fast.c": "y\n", "more.toy": "", "new.toy": "alpha\n", "test_a.toy": "t alpha\n"},
			want: []string{
				"code.toy 0 noticed validate/time", "fast.c 0 unnoticed", "more.toy 0 noticed validate/memory", "new.toy 0 noticed test_a.toy::t",
				"3 noticed, 0 skipped",
			},
			runs: []string{"test_a.toy", "test_a.toy", "test_a.toy", "test_a.toy"},
		},
		"a_test_that_fails_alone_runs_with_all": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "alone alpha\n", "test_b.toy": "kept one\n"},
			solution: map[string]string{"code.toy": "one\nalpha\n", "more.toy": "x\n", "test_a.toy": "alone alpha\n", "test_b.toy": "kept one\n"},
			want:     []string{"code.toy 0 noticed test_a.toy::alone", "more.toy 0 unnoticed", "1 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy test_b.toy", "test_a.toy test_b.toy", "test_a.toy test_b.toy"},
		},
		"a_test_that_fails_alone_has_no_say": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "alone alpha\nt beta\n"},
			solution: map[string]string{"code.toy": "alpha\none\nbeta\n", "test_a.toy": "alone alpha\nt beta\n"},
			want:     []string{"code.toy 0 unnoticed", "code.toy 1 noticed test_a.toy::t", "1 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy", "test_a.toy"},
		},
		"nothing_can_be_said": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "alone alpha\n"},
			solution: map[string]string{"code.toy": "one\nalpha\n", "test_a.toy": "alone alpha\n"},
			want:     []string{"0 noticed, 1 skipped control=1"},
			runs:     []string{"test_a.toy", "test_a.toy"},
		},
		"the_solution_is_over_a_limit_today": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "one\nalpha\n\nhang\n", "test_a.toy": "t alpha\n"},
			want:     []string{"0 noticed, 1 skipped control=1"},
			runs:     []string{"test_a.toy", "test_a.toy"},
		},
		"the_solution_builds_over_a_limit_today": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "one\nalpha\nhog\n", "test_a.toy": "t alpha\n"},
			want:     []string{"0 noticed, 1 skipped control=1"},
		},
		"few_names": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "1 alpha\n2 alpha\n3 alpha\n4 alpha\n5 alpha\n6 alpha\n"},
			solution: map[string]string{"code.toy": "one\nalpha\n", "test_a.toy": "1 alpha\n2 alpha\n3 alpha\n4 alpha\n5 alpha\n6 alpha\n"},
			want:     []string{"code.toy 0 noticed test_a.toy::1 test_a.toy::2 test_a.toy::3 test_a.toy::4 test_a.toy::5", "1 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy"},
		},
		"a_file_that_becomes_a_link": {
			start:    map[string]string{"code.toy": "one\n", "link.toy": "text\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "one\nalpha\n", "link.toy": "-> code.toy", "test_a.toy": "t alpha\n"},
			want:     []string{"code.toy 0 noticed test_a.toy::t", "1 noticed, 1 skipped link=1"},
			runs:     []string{"test_a.toy", "test_a.toy"},
		},
		"what_cannot_be_taken_back_by_hunks": {
			start:    map[string]string{"code.toy": "one\n", "setup.cfg": "a\n", "link.toy": "-> code.toy", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "one\nalpha\n", "setup.cfg": "b\n", "link.toy": "-> setup.cfg", "blob.toy": "\x00\xff", "test_a.toy": "t alpha\n"},
			want:     []string{"code.toy 0 noticed test_a.toy::t", "1 noticed, 3 skipped binary=1 link=1 manifest=1"},
			runs:     []string{"test_a.toy", "test_a.toy"},
		},
		// The language reads neither: C beside it, and data that ships.
		"in_any_language": {
			start:    map[string]string{"code.toy": "one\n", "fast.c": "x\n", "names.json": "a\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "one\ntwo\n", "fast.c": "x\nalpha\n", "names.json": "b\n", "test_a.toy": "t alpha\n"},
			want:     []string{"code.toy 0 unnoticed", "fast.c 0 noticed test_a.toy::t", "names.json 0 unnoticed", "1 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy", "test_a.toy", "test_a.toy"},
		},
		// What the solution compiled is not there without the hunk, though the build fails.
		"what_is_compiled_is_compiled_again": {
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "t made\n"},
			solution: map[string]string{"code.toy": "one\ntwo\n", "compiled.c": "made\n", "build.needs": "compiled.c\n", "test_a.toy": "t made\n"},
			want:     []string{"build.needs 0 unnoticed", "code.toy 0 unnoticed", "compiled.c 0 noticed test_a.toy::t", "1 noticed, 0 skipped"},
			runs:     []string{"test_a.toy", "test_a.toy", "test_a.toy", "test_a.toy"},
		},
		"none_are_asked_for": {
			max:      -1,
			start:    map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "one\nalpha\n", "test_a.toy": "t alpha\n"},
			want:     []string{"0 noticed, 1 skipped limit=1"},
		},
		"at_most_so_many_spread_over_the_patch": {
			max:      3,
			start:    map[string]string{"code.toy": "1\n2\n3\n4\n5\n6\n7\n", "test_a.toy": "t alpha\n"},
			solution: map[string]string{"code.toy": "1\na\n2\nb\n3\nalpha\n4\nd\n5\ne\n6\nf\n7\ng\n", "test_a.toy": "t alpha\n"},
			want:     []string{"code.toy 0 unnoticed", "code.toy 2 noticed test_a.toy::t", "code.toy 4 unnoticed", "1 noticed, 4 skipped limit=4"},
			runs:     []string{"test_a.toy", "test_a.toy", "test_a.toy", "test_a.toy"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox()
			most := 30
			if tc.max != 0 {
				most = max(0, tc.max)
			}
			got, err := run(t, b, most, tc.start, tc.solution)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, said(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.runs, b.runs); d != "" {
				t.Errorf("runs (-want +got):\n%s", d)
			}
			if len(b.left) > 0 {
				t.Errorf("layers left behind: %v", b.left)
			}
		})
	}
}

// TestBuildsAgain: the build runs after every revert, as it did for the solution, unless it leaves
// the same with the change as without it.
func TestBuildsAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		start, solution map[string]string
		want            int
	}{
		"leaves_the_same":          {start: map[string]string{}, solution: map[string]string{}, want: 2}, // B and G
		"compiles_the_change":      {start: map[string]string{"fast.c": "x\n"}, solution: map[string]string{"fast.c": "y\n"}, want: 4},
		"compiles_to_another_size": {start: map[string]string{"fast.c": "x\n"}, solution: map[string]string{"fast.c": "yy\n"}, want: 4},
		"compiles_a_new_one":       {start: map[string]string{}, solution: map[string]string{"fast.c": "y\n"}, want: 4},
		"compiles_what_stays":      {start: map[string]string{"fast.c": "x\n"}, solution: map[string]string{"fast.c": "x\n"}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox()
			for _, files := range []map[string]string{tc.start, tc.solution} {
				maps.Copy(files, map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\n"})
			}
			tc.solution["code.toy"] = "one\nalpha\n"
			if _, err := run(t, b, 30, tc.start, tc.solution); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Repeat("compile warm ", tc.want), strings.Join(b.steps, " ")+" "); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestTime: a run without a hunk has many times the time of one with it, and never
// more than the sandbox gives.
func TestTime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ takes, limit, want time.Duration }{
		"many_times": {takes: 20 * time.Second, want: 200 * time.Second},
		"at_least":   {takes: time.Second, want: time.Minute},
		"at_most":    {takes: 20 * time.Second, limit: 100 * time.Second, want: 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\n"}
			solution := map[string]string{"code.toy": "one\nalpha\n", "test_a.toy": "t alpha\n"}
			b := newBox()
			b.takes = tc.takes
			c, proof := caseOf(t, start, solution)
			o := outside(b)
			told := 0
			o.Observe = func(testrun.Measured) { told++ }
			a, err := assess.New(o, assess.Config{MaxHunks: 1, Limits: sandbox.Limits{Timeout: tc.limit}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Assess(t.Context(), c, proof); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]time.Duration{tc.limit, tc.want}, b.limits); d != "" || told != 2 {
				t.Errorf("told %d times (-want +got):\n%s", told, d)
			}
		})
	}
}

// TestFaults of the machine are errors, never a word on the tests.
func TestFaults(t *testing.T) {
	t.Parallel()
	start := map[string]string{"code.toy": "fire\n", "test_a.toy": "t alpha\n"}
	solution := map[string]string{"code.toy": "alpha\n", "test_a.toy": "t alpha\n"}
	calm := map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\n"}
	b := newBox()
	b.fault = errors.New("disk gone")
	for name, tc := range map[string]struct {
		box   *box
		start map[string]string
		want  string
	}{
		"build":  {newBox(), start, "fire"},
		"remove": {b, calm, "disk gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := run(t, tc.box, 30, tc.start, solution); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestPatchesWithoutContext give the same hunks as those with any.
func TestPatchesWithoutContext(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "\n"}), 0, 12), func(lines []string) string { return strings.Join(lines, "") })
		end := rapid.SampledFrom([]string{"", "end", "end\n"})
		start := map[string]string{"code.toy": text.Draw(rt, "start") + end.Draw(rt, "start's end"), "test_a.toy": "t alpha\n"}
		solution := map[string]string{"code.toy": text.Draw(rt, "solution") + "alpha\n" + end.Draw(rt, "solution's end"), "test_a.toy": "t alpha\n"}
		var all [][]string
		for _, context := range []int{0, 1, 3, 100} {
			b := newBox()
			c, proof := caseOf(t, start, solution)
			c.Patch = gitrepotest.Diff(t, context, start, solution)
			a, err := assess.New(outside(b), assess.Config{MaxHunks: 100})
			if err != nil {
				rt.Fatal(err)
			}
			got, err := a.Assess(t.Context(), c, proof)
			if err != nil {
				rt.Fatal(err)
			}
			if got.Noticed == 0 {
				rt.Fatalf("nobody noticed: %v", said(got))
			}
			all = append(all, said(got))
		}
		for _, one := range all[1:] {
			if d := cmp.Diff(all[0], one); d != "" {
				rt.Fatal(d)
			}
		}
	})
}

// TestRevertingAllGivesTheStart: the edits of a file are all that a patch does to it.
func TestRevertingAllGivesTheStart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n"}), 1, 12), func(lines []string) string { return strings.Join(lines, "") })
		end := rapid.SampledFrom([]string{"", "end", "end\n"})
		start := map[string]string{"code.toy": text.Draw(rt, "start") + end.Draw(rt, "start's end"), "test_a.toy": "t alpha\n"}
		solution := map[string]string{"code.toy": text.Draw(rt, "solution") + end.Draw(rt, "solution's end"), "test_a.toy": "t alpha\n"}
		c, _ := caseOf(t, start, solution)
		for range 100 {
			c.Patch = gitrepotest.Diff(t, 3, start, solution)
			if len(c.Patch) == 0 {
				return
			}
			trees, err := assess.Reverts(c)
			if err != nil {
				rt.Fatal(err)
			}
			first, err := trees[0].Read("code.toy")
			if err != nil {
				rt.Fatal(err)
			}
			solution = map[string]string{"code.toy": string(first), "test_a.toy": "t alpha\n"}
			if c.G = trees[0]; solution["code.toy"] == start["code.toy"] {
				return
			}
		}
		rt.Fatal("a hundred reverts later there is still a hunk")
	})
}
