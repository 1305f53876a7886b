package describe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// shelf is one library, whose proof has so many tests of each class.
type shelf struct {
	tree  *tree.Tree
	proof schemas.Proof
	lock  string
}

func newShelf(t *testing.T, f2p, p2p, failing int) *shelf {
	t.Helper()
	s := &shelf{tree: planted(t, []tree.Entry{
		{Path: "README.md", Mode: tree.ModeFile, Data: []byte("# Kit\n")}, {Path: "kit.py", Mode: tree.ModeFile, Data: []byte("def f(): ...\n")},
		{Path: "docs/use.rst", Mode: tree.ModeFile, Data: []byte("Use\n")}, {Path: "docs/conf.py", Mode: tree.ModeFile, Data: []byte("x = 1\n")},
	})}
	for _, tests := range []struct {
		n     int
		class schemas.Class
		g     schemas.Status
	}{{f2p, schemas.F2P, schemas.Passed}, {p2p, schemas.P2P, schemas.Passed}, {failing, schemas.Failing, schemas.Failed}} {
		for i := range tests.n {
			s.proof.Tests = append(s.proof.Tests, schemas.TestVerdict{ID: fmt.Sprintf("%s-%d", tests.class, i), Class: tests.class, G: []schemas.Status{tests.g}})
		}
	}
	return s
}

func (s *shelf) cut() schemas.Cut {
	return schemas.Cut{Repo: "acme/kit", Profile: "strict", Release: schemas.Release{Tag: "v1.2", Version: "1.2"}}
}

func (s *shelf) Origin(string) (schemas.Origin, error) {
	cut := s.cut()
	return schemas.Origin{Cut: &cut}, nil
}

func (s *shelf) Start(string) (schemas.Start, error) {
	return schemas.Start{
		ChangeID: s.cut().ID(), Repo: "acme/kit", Kind: schemas.KindLibrary, Masked: &schemas.Masked{Functions: 9, Taken: 7},
		Files: []schemas.PartFile{{ChangedFile: schemas.ChangedFile{Path: "kit.py"}, Part: schemas.PartCode}},
	}, nil
}

func (s *shelf) Proof(string) (schemas.Proof, error) { return s.proof, nil }

func (s *shelf) Provisioned(string) (schemas.Provisioned, error) {
	return schemas.Provisioned{Environment: schemas.Environment{Key: schemas.DigestOf(s.lock), Recipe: schemas.Recipe{Lock: s.lock}}}, nil
}

func (s *shelf) Of(context.Context, schemas.Start) (states.Trees, error) {
	return states.Trees{B: s.tree, G: s.tree}, nil
}

// adequacy is that of a suite which runs so many of 100 lines; below 0 nobody knows.
func adequacy(s *shelf, ran int) schemas.Adequacy {
	a := schemas.Adequacy{StartID: s.cut().ID()}
	if ran >= 0 {
		a.Coverage = &schemas.Coverage{Lines: 100, Ran: ran}
	}
	return a
}

// TestLibraryGates: a library is held to what its tests say, and the first few tests that are to
// blame are named. A bound that is met exactly holds.
func TestLibraryGates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f2p, p2p, failing int
		bounds            *Library
		want              schemas.Reason
		says              string
	}{
		"zero_work_at_the_bound":    {f2p: 95, p2p: 5},
		"zero_work":                 {f2p: 94, p2p: 6, want: schemas.ZeroWork, says: "6.0 % of the tests pass with nothing done, at most 5.0 % may; pass_to_pass-0, pass_to_pass-1, pass_to_pass-2, pass_to_pass-3, pass_to_pass-4 and 1 more"},
		"zero_work_allowed":         {f2p: 50, p2p: 50, bounds: &Library{MaxZeroWork: 0.5}},
		"suite_at_the_bound":        {f2p: 98, failing: 2},
		"suite":                     {f2p: 97, failing: 3, want: schemas.SuiteFails, says: "97.0 % of the tests pass in the release, at least 98.0 % are asked for; failing-0, failing-1, failing-2"},
		"suite_allowed":             {f2p: 1, failing: 9, bounds: &Library{MinPassing: 0.1}},
		"a_bound_of_0_is_no_bound":  {f2p: 1, failing: 9, bounds: &Library{}},
		"a_bound_of_0_of_zero_work": {f2p: 99, p2p: 1, bounds: &Library{}, want: schemas.ZeroWork},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t, c.f2p, c.p2p, c.failing)
			_, err := New(s, s, nil, nil, Config{Library: c.bounds}).Run(t.Context(), adequacy(s, 90))
			var no *pipeline.Rejected
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want == "":
			case !errors.As(err, &no) || no.Reason != c.want || !strings.Contains(no.Err.Error(), c.says):
				t.Errorf("%v, want %s that says %q", err, c.want, c.says)
			}
		})
	}
}

// TestLibraryStatement: the statement of a library says what is missing, and where to read.
func TestLibraryStatement(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1, 0, 0)
	st, err := New(s, s, nil, nil, Config{}).Run(t.Context(), adequacy(s, 90))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Write the missing bodies of kit 1.2.", "7 of its 9 functions", "- kit.py\n", "- README.md\n- docs/use.rst"} {
		if !strings.Contains(st.Text, want) {
			t.Errorf("no %q in\n%s", want, st.Text)
		}
	}
	if strings.Contains(st.Text, "conf.py") || !slices.Contains(st.From, "docs") {
		t.Errorf("from %v:\n%s", st.From, st.Text)
	}
	s.lock = "six==1.0\n" // of another environment
	if other, err := New(s, s, nil, nil, Config{}).Run(t.Context(), adequacy(s, 90)); err != nil || st.Release == "" || other.Release == st.Release {
		t.Errorf("release %q, %q in another environment, %v", st.Release, other.Release, err)
	}
	byHand := map[string]schemas.Override{s.cut().ID(): {Statement: "Write it."}}
	if st, err = New(s, s, nil, byHand, Config{}).Run(t.Context(), adequacy(s, 90)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{schemas.Hand}, st.From); diff != "" || st.Text != "Write it." || st.WrittenBy != schemas.Hand {
		t.Errorf("by hand: %q by %q (-want +got):\n%s", st.Text, st.WrittenBy, diff)
	}
}

// TestLibraryFacts: a library is held to how much of it the suite runs, to its documentation and to
// what it installs.
func TestLibraryFacts(t *testing.T) {
	t.Parallel()
	const usual, gpu = "six==1.0\nnvidia==1\nx-nvidia-y==2\n", "six==1.0\nnvidia-cublas-cu12==12.1\n"
	only := func(set func(*Library)) *Library {
		l := DefaultLibrary()
		set(&l)
		return &l
	}
	for name, c := range map[string]struct {
		ran    int
		files  []string // beside code
		lock   string
		bounds *Library
		want   schemas.Reason
		says   string
	}{
		"at_the_bound":            {ran: 90, files: []string{"README.md"}, lock: usual},
		"below":                   {ran: 89, files: []string{"README.md"}, want: schemas.LowCoverage, says: "the suite runs 89.0 % of 100 lines of code, at least 90.0 %"},
		"nobody_knows":            {ran: -1, files: []string{"README.md"}, want: schemas.LowCoverage, says: "cannot be measured"},
		"nobody_asks":             {ran: -1, files: []string{"README.md"}, bounds: only(func(l *Library) { l.MinCoverage = 0 })},
		"signatures":              {ran: 90, want: schemas.NoSpec, says: "documentation it has is signatures, and readme is asked for"},
		"signatures_allowed":      {ran: 90, bounds: only(func(l *Library) { l.Specification = Signatures })},
		"readme_where_docs_asked": {ran: 90, files: []string{"README.rst"}, bounds: only(func(l *Library) { l.Specification = Docs }), want: schemas.NoSpec, says: "documentation it has is readme, and docs is asked for"},
		"docs_where_docs_asked":   {ran: 90, files: []string{"docs/index.rst"}, bounds: only(func(l *Library) { l.Specification = Docs })},
		"gpu":                     {ran: 90, files: []string{"README.md"}, lock: gpu, want: schemas.NeedsGPU, says: "nvidia-cublas-cu12 is in the environment"},
		"gpu_allowed":             {ran: 90, files: []string{"README.md"}, lock: gpu, bounds: only(func(l *Library) { l.GPU = true })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t, 1, 0, 0)
			entries := []tree.Entry{{Path: "kit.py", Mode: tree.ModeFile, Data: []byte("def f(): ...\n")}}
			for _, p := range c.files {
				entries = append(entries, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte("Kit\n")})
			}
			s.tree, s.lock = planted(t, entries), c.lock
			_, err := New(s, s, nil, nil, Config{Library: c.bounds}).Run(t.Context(), adequacy(s, c.ran))
			var no *pipeline.Rejected
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want == "":
			case !errors.As(err, &no) || no.Reason != c.want || !strings.Contains(no.Err.Error(), c.says):
				t.Errorf("%v, want %s that says %q", err, c.want, c.says)
			}
		})
	}
	s := newShelf(t, 1, 0, 0)
	d := New(s, s, nil, nil, Config{})
	if cmp.Equal(d.Depends(adequacy(s, 80)), d.Depends(adequacy(s, 90))) || !cmp.Equal(d.Depends(adequacy(s, 80)), d.Depends(adequacy(s, 80))) {
		t.Error("another coverage is no other input")
	}
}

// sliced is a shelf of a slice of the library.
type sliced struct {
	*shelf
	slice schemas.Slice
}

func (s sliced) Start(id string) (schemas.Start, error) {
	start, err := s.shelf.Start(id)
	start.Masked.Slice, start.Masked.Functions, start.Masked.Taken = &s.slice, 3, 2
	start.Functions.Modified = []string{"kit.py::Kit.cut", "kit.py::open"}
	return start, err
}

// TestSliceStatement: the statement of a slice names what is missing, and says that all else is
// there.
func TestSliceStatement(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slice schemas.Slice
		want  []string
	}{
		"module":   {schemas.Slice{Module: "kit.py", Name: "kit"}, []string{"Write the missing bodies of the module kit.py of kit 1.2.", "2 of its 3 functions", "All other modules are there."}},
		"function": {schemas.Slice{Function: "kit.py::Kit.cut", Name: "Kit.cut"}, []string{"Write the missing body of Kit.cut in kit.py of kit 1.2.", "all others are there"}},
	} {
		s := sliced{newShelf(t, 1, 0, 0), c.slice}
		st, err := New(s, s, nil, nil, Config{}).Run(t.Context(), adequacy(s.shelf, 90))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range append(c.want, "- kit.py\n\nFunctions to write:\n\n- kit.py::Kit.cut\n- kit.py::open\n", "Changes to tests do not count.", "- docs/use.rst") {
			if !strings.Contains(st.Text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, st.Text)
			}
		}
	}
}

// TestSliceGate: what passes with nothing done is counted among the tests that count alone.
func TestSliceGate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		counted []string
		says    string
	}{
		"most_of_the_suite_has_nothing_to_do_with_it": {counted: []string{"pass_to_pass-3"}},
		"too_many": {counted: []string{"pass_to_pass-3", "pass_to_pass-7"}, says: "9.5 % of the 21 tests that count pass with nothing done, at most 5.0 % may; pass_to_pass-3, pass_to_pass-7"},
	} {
		s := newShelf(t, 19, 80, 0)
		a := adequacy(s, 90)
		a.Counted = &schemas.Counted{Rule: schemas.CountReach, P2P: c.counted}
		_, err := New(s, s, nil, nil, Config{}).Run(t.Context(), a)
		var no *pipeline.Rejected
		if c.says == "" && err != nil || c.says != "" && (!errors.As(err, &no) || no.Reason != schemas.ZeroWork || no.Err.Error() != c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
