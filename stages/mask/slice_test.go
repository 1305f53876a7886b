package mask_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	masks "github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/mask"
)

// gears has a module with a function that stays and a function inside another, and a module beside.
const gears = `-- commit: Release --
-- gears/cut.py --
"""Cuts."""


def loaded():
    one = 1
    return one


VALUE = loaded()


def teeth(n):
    """Give the teeth."""
    def odd(i):
        rest = i % 2
        return rest

    found = []
    for i in range(n):
        if odd(i):
            found.append(i)
    return found


def count(n):
    if n > 9:
        n = 9
    return len(teeth(n))
-- gears/fast.lua --
return 1
-- gears/turn.py --
from gears.cut import teeth


def turn(n):
    all = teeth(n)
    return all[-1]


def back(n):
    return -turn(n)
-- gears/__init__.py --
-- tests/test_gears.py --
from gears.turn import turn


def test_turn():
    assert turn(4) == 3
`

// TestSlice masks the slice alone, and every figure is about its functions: what stays elsewhere
// is not "left".
func TestSlice(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, gears)
	for name, c := range map[string]struct {
		slice     schemas.Slice
		want      schemas.Masked
		functions []string
		left      float64
	}{
		"module": {
			schemas.Slice{Module: "gears/cut.py", Name: "cut"},
			schemas.Masked{Functions: 4, Taken: 3, Kept: map[string]int{"loaded": 1}, Lines: 13, Left: 2, Difficulty: &schemas.Difficulty{Lines: 11, Branches: 3, FanIn: 2, Depth: 2}},
			[]string{"gears/cut.py::count", "gears/cut.py::teeth"}, 0.2,
		},
		"function": {
			schemas.Slice{Function: "gears/cut.py::teeth", Name: "teeth"},
			schemas.Masked{Functions: 2, Taken: 2, Kept: map[string]int{}, Lines: 8, Left: 0, Difficulty: &schemas.Difficulty{Lines: 8, Branches: 2, FanIn: 2, Depth: 2}},
			[]string{"gears/cut.py::teeth"}, 0,
		},
		"another_module": {
			schemas.Slice{Module: "gears/turn.py", Name: "turn"},
			schemas.Masked{Functions: 2, Taken: 2, Kept: map[string]int{}, Lines: 3, Left: 0, Difficulty: &schemas.Difficulty{Lines: 3, FanIn: 1}},
			[]string{"gears/turn.py::back", "gears/turn.py::turn"}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := mask.Default()
			config.MaxLinesLeft = c.left
			start, _, err := runSlice(t, dir, "strict", &c.slice, config)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Profile, c.want.Manifest, c.want.Slice = "strict", start.Masked.Manifest, &c.slice
			if diff := cmp.Diff(&c.want, start.Masked); diff != "" {
				t.Errorf("masked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.functions, start.Functions.Modified); diff != "" {
				t.Errorf("functions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{c.slice.Path()}, start.Paths(schemas.PartCode)); diff != "" || len(start.Files) != 1 {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if want := "acme__widget-v1.0.library.strict." + c.slice.Name; start.ID() != want {
				t.Errorf("ID %s, want %s", start.ID(), want)
			}
		})
	}
	tight := mask.Default()
	tight.MaxLinesLeft = 0.1
	var rejected *pipeline.Rejected
	if _, _, err := runSlice(t, dir, "strict", &schemas.Slice{Module: "gears/cut.py", Name: "cut"}, tight); !errors.As(err, &rejected) || rejected.Reason != schemas.LinesLeft {
		t.Errorf("%v, want %s", err, schemas.LinesLeft)
	}
}

// TestPlaces masks handlers, and one without a name by its place.
func TestPlaces(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, `-- commit: Release --
-- go.mod --
module acme.example/widget
-- api.go --
package widget

import "net/http"

func Routes(mux *http.ServeMux) {
	mux.HandleFunc("/list", list)
	mux.HandleFunc("/add", add("x"))
}

func list(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(200)
	w.Write([]byte("listed"))
}

func add(prefix string) http.HandlerFunc {
	name := prefix + "added"
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(201)
		w.Write([]byte(name))
	}
}
-- api_test.go --
package widget
`)
	slice := schemas.Slice{Name: "all", Handlers: []string{"api.go::add:17", "api.go::list"}}
	config := mask.Default()
	config.MaxLinesLeft = 1
	start, blobs, err := runSlice(t, dir, "strict", &slice, config)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slice.Handlers, start.Functions.Modified); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	patch, err := blobs.Get(start.Patch) // from the starter to the release
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-\tpanic(\"masked: list\")\n", "-\t\t_ = name\n-\t\tpanic(\"masked: add:17\")\n"} {
		if !strings.Contains(string(patch), want) {
			t.Errorf("%q is not in\n%s", want, patch)
		}
	}
}

// TestManifest lists the functions of the code part, and rejects what no starter is made of.
func TestManifest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tree string
		want []string
		why  schemas.Reason
	}{
		"listed":      {gears, []string{"back masked", "count masked", "loaded kept", "teeth masked", "teeth.odd", "turn masked"}, ""},
		"no_tests":    {"-- commit: Release --\n-- a.py --\ndef f():\n    return 2\n", nil, schemas.NoSuite},
		"other_words": {"-- commit: Release --\n-- a.rb --\ndef f\n  1\nend\n", nil, schemas.MixedSource},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := open(t, gitrepotest.New(t, c.tree))
			defer repo.Close()
			blobs, err := blob.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			m, err := mask.New(one{repo}, blobs, plugins.Languages(), plugins.Maskers(), nil, mask.Default())
			if err != nil {
				t.Fatal(err)
			}
			manifest, err := m.Manifest(t.Context(), schemas.Cut{Repo: "acme/widget", Release: schemas.Release{Commit: repo.Info().Head}})
			var rejected *pipeline.Rejected
			if c.why != "" {
				if !errors.As(err, &rejected) || rejected.Reason != c.why {
					t.Errorf("%v, want %s", err, c.why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range manifest.Files {
				for _, f := range r.Functions {
					word := f.Name
					if f.Done != masks.Gone {
						word += " " + string(f.Done)
					}
					got = append(got, word)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
