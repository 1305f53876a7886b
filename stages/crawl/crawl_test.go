package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl"
)

const history = `
-- commit: Start --
date: 2025-01-01T00:00:00Z
-- app.py --
a
-- commit: Feature one (#1) --
date: 2025-01-02T00:00:00Z
-- app.py --
b
-- tests/test_app.py --
x
-- commit: Docs --
date: 2025-01-03T00:00:00Z
-- README.md --
x
-- commit: Feature two (#2) --
date: 2025-01-04T00:00:00Z
-- app.py --
c
-- tests/test_app.py --
y
-- commit: Code alone (#3) --
date: 2025-01-05T00:00:00Z
-- app.py --
d
-- commit: Feature three (#4) --
date: 2025-01-06T00:00:00Z
-- app.go --
c
-- app_test.go --
y
-- commit: Settings (#5) --
date: 2025-01-07T00:00:00Z
-- app.py --
e
-- tox.ini --
y
`

func run(t *testing.T, s schemas.Source) ([]schemas.Change, error) {
	t.Helper()
	r, err := gitrepo.Open(t.Context(), gitrepotest.New(t, history), "acme/widget", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Repo = r.Info()
	return crawl.New(only{r}).Run(t.Context(), s)
}

// only is a world of one repository.
type only struct{ *gitrepo.Repo }

func (o only) Log(ctx context.Context, _ string, q gitrepo.Query) iter.Seq2[schemas.Change, error] {
	return o.Repo.Log(ctx, q)
}

func TestRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source schemas.Source
		want   string
	}{
		"everything":        {schemas.Source{}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2); Docs; Feature one (#1); Start"},
		"limit_of_one":      {schemas.Source{Changes: 1}, "Settings (#5); Feature three (#4)"},
		"limit_of_two":      {schemas.Source{Changes: 2}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2)"},
		"limit_over_all":    {schemas.Source{Changes: 9}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2); Docs; Feature one (#1); Start"},
		"window":            {schemas.Source{Since: "2025-01-02", Until: "2025-01-04"}, "Docs; Feature one (#1)"},
		"limit_in_window":   {schemas.Source{Until: "2025-01-05", Changes: 1}, "Feature two (#2)"},
		"only_has_no_limit": {schemas.Source{Only: []string{"2", "4"}, Changes: 1}, "Feature three (#4); Feature two (#2)"},
		"empty_window":      {schemas.Source{Since: "2030-01-01"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes, err := run(t, c.source)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, change := range changes {
				got = append(got, change.Subject)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source schemas.Source
		want   []string
	}{
		"only_without_answer": {schemas.Source{Only: []string{"2", "99", "feedface"}}, []string{`"99"`, `"feedface"`}},
		"only_out_of_window":  {schemas.Source{Only: []string{"2"}, Since: "2025-01-06"}, []string{`"2"`}},
		"no_date":             {schemas.Source{Since: "yesterday"}, []string{"since", "yesterday"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, c.source)
			for _, word := range c.want {
				if err == nil || !strings.Contains(err.Error(), word) {
					t.Errorf("error %v does not name %s", err, word)
				}
			}
		})
	}
}

// faulty is a history that cannot be read now.
type faulty struct{ err error }

func (f faulty) Log(context.Context, string, gitrepo.Query) iter.Seq2[schemas.Change, error] {
	return func(yield func(schemas.Change, error) bool) { yield(schemas.Change{}, f.err) }
}

func TestRemoteFaultsAreDeferred(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	for _, c := range []struct {
		err  error
		want schemas.StepState
	}{{fmt.Errorf("mirroring: %w", gitrepo.ErrRemote), schemas.StepDeferred}, {broken, schemas.StepFailed}} {
		_, err := crawl.New(faulty{c.err}).Run(t.Context(), schemas.Source{})
		if got := pipeline.EndOf(t.Context(), err); got != c.want {
			t.Errorf("%v ends %s, want %s", c.err, got, c.want)
		}
	}
}

func TestSourceNamesItsRepository(t *testing.T) {
	t.Parallel()
	changes, err := run(t, schemas.Source{Changes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if id := changes[1].ID(); id != "acme__widget-4" {
		t.Errorf("ID %s", id)
	}
}
