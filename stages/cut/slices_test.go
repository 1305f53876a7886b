package cut_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/cut"
)

// listing is what a mask would do with the functions of every release, or why it cannot.
type listing struct {
	files []mask.Record
	err   error
}

func (l listing) Manifest(context.Context, schemas.Cut) (*mask.Manifest, error) {
	return &mask.Manifest{Files: l.files}, l.err
}

// file has functions with so many body lines; what begins with "!" is kept.
func file(path string, lines int, names ...string) mask.Record {
	r := mask.Record{Path: path}
	for _, n := range names {
		name, kept := strings.CutPrefix(n, "!")
		d := mask.Definition{Name: name, Done: mask.Masked, Shape: mask.Shape{Lines: lines}}
		if kept {
			d.Done = mask.Kept
		}
		r.Functions = append(r.Functions, d)
	}
	return r
}

var widget = listing{files: []mask.Record{
	file("src/widget/__init__.py", 9, "!load"),
	file("src/widget/core.py", 6, "area", "Box.size", "Box.size"), // a property and its setter
	file("src/widget/io/core.py", 3, "read", "Get", "tiny"),
	file("src/widget/misc.py", 4, "get"),
	file("src/widget/small.py", 2, "one"),
}}

const (
	core   = "src/widget/core.py"
	ioCore = "src/widget/io/core.py"
	whole  = "whole"
	id     = "acme__widget-v2.1.0.library"
)

// told are the slices of cuts, as name=part; the whole is "whole".
func told(cuts []schemas.Cut) []string {
	var out []string
	for _, c := range cuts {
		if c.Slice == nil {
			out = append(out, whole)
			continue
		}
		out = append(out, c.Slice.Name+"="+c.Slice.Module+c.Slice.Function)
	}
	return out
}

func cutOf(t *testing.T, l cut.Lister, c cut.Config, only ...string) []schemas.Cut {
	t.Helper()
	c.Releases, c.Profile = 1, "strict"
	cutter, err := cut.New(l, c)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cutter.Run(t.Context(), schemas.Crawled{Source: schemas.Source{Repo: schemas.Repo{Name: "acme/widget"}, Only: only}, Releases: releases})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSlices: modules are files with a function whose body can be taken out, the largest first;
// functions have at least three lines, and are taken at equal steps from the longest to the
// shortest. A name that is not the only one is the whole path.
func TestSlices(t *testing.T) {
	t.Parallel()
	modules, functions := []string{schemas.ModuleSlices}, []string{schemas.FunctionSlices}
	for name, c := range map[string]struct {
		config cut.Config
		want   []string
	}{
		"modules":   {cut.Config{Slices: modules}, []string{"core=" + core, "io/core=" + ioCore, "misc=src/widget/misc.py", "small=src/widget/small.py"}},
		"functions": {cut.Config{Slices: functions}, []string{"Box.size=" + core + "::Box.size", "area=" + core + "::area", "src/widget/misc.py::get=src/widget/misc.py::get", ioCore + "::Get=" + ioCore + "::Get", "read=" + ioCore + "::read", "tiny=" + ioCore + "::tiny"}},
		"two":       {cut.Config{Slices: modules, MaxSlices: 2}, []string{"core=" + core, "io/core=" + ioCore}},
		"evenly":    {cut.Config{Slices: functions, MaxSlices: 3}, []string{"Box.size=" + core + "::Box.size", "src/widget/misc.py::get=src/widget/misc.py::get", "read=" + ioCore + "::read"}},
		// misc has one function: with the module that would be there twice.
		"all_kinds": {cut.Config{Slices: cut.Slices(), MaxSlices: 3}, []string{whole, "core=" + core, "io/core=" + ioCore, "misc=src/widget/misc.py", "Box.size=" + core + "::Box.size", "area=" + core + "::area", "read=" + ioCore + "::read"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, told(cutOf(t, widget, c.config))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSlicesOnce: what is of the very same functions is one task, that of the larger kind.
func TestSlicesOnce(t *testing.T) {
	t.Parallel()
	one := listing{files: []mask.Record{file("lathe.py", 5, "turn")}}
	for want, c := range map[string]cut.Config{
		"whole": {Slices: cut.Slices()}, "lathe=lathe.py": {Slices: []string{schemas.ModuleSlices, schemas.FunctionSlices}},
		"lathe.py::turn=lathe.py::turn": {Slices: []string{schemas.FunctionSlices}},
	} {
		l := one
		if strings.Contains(want, "::") { // beside a module of its name
			l.files = append(slices.Clone(l.files), file("turn.py", 1, "x"))
		}
		if diff := cmp.Diff([]string{want}, told(cutOf(t, l, c))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestSlicesNotListed: a release that cannot be masked goes on whole, so that the mask says why;
// a fault of the machine is none of the release.
func TestSlicesNotListed(t *testing.T) {
	t.Parallel()
	c := cut.Config{Slices: []string{schemas.ModuleSlices}, Profile: "strict"}
	for name, l := range map[string]listing{
		"rejected": {err: pipeline.Reject(schemas.MixedSource, "half of it")}, "nothing": {files: []mask.Record{file("a.py", 3, "!load")}},
	} {
		if diff := cmp.Diff([]string{whole}, told(cutOf(t, l, c))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	cutter, err := cut.New(listing{err: errors.New("the disk is full")}, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cutter.Run(t.Context(), schemas.Crawled{Releases: releases}); err == nil {
		t.Error("a fault of the machine lists a release")
	}
}

// TestSlicesNamed: a tag means what is asked for of the release, an ID what it names, a slice
// beyond the bound too.
func TestSlicesNamed(t *testing.T) {
	t.Parallel()
	c := cut.Config{Profile: "strict", Slices: []string{whole, schemas.ModuleSlices}, MaxSlices: 1}
	key := strings.TrimPrefix(id, "acme__widget-")
	for _, tc := range []struct{ only, want []string }{
		{[]string{"v2.1.0"}, []string{whole, "core=" + core}},
		{[]string{key}, []string{whole}},
		{[]string{key + ".strict.small"}, []string{"small=src/widget/small.py"}},
		{[]string{key + ".strict.small", key + ".strict.core"}, []string{"core=" + core, "small=src/widget/small.py"}},
		{[]string{key + ".strict.smal"}, nil},
	} {
		if diff := cmp.Diff(tc.want, told(cutOf(t, widget, c, tc.only...))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tc.only, diff)
		}
	}
	for selection, want := range map[string]string{"v2.1.0": "v2.1.0", id: key, "V2.1.0.library": "", key: key, id + ".strict.small": ""} {
		if got, ok := cut.Named("acme/widget", releases, c, selection); got != want || ok != (want != "") {
			t.Errorf("%s means %q (%t), want %q", selection, got, ok, want)
		}
	}
}

// TestSlicesListed: the IDs of all slices of the kinds that are asked for, of the release that a
// selection begins with.
func TestSlicesListed(t *testing.T) {
	t.Parallel()
	c := cut.Config{Profile: "strict", Slices: []string{schemas.ModuleSlices}, MaxSlices: 1}
	want := []string{id + ".strict.core", id + ".strict.io_core_c9c6", id + ".strict.misc", id + ".strict.small"}
	for selection, want := range map[string][]string{
		id + ".strict.smal": want, strings.ToUpper(strings.TrimPrefix(id, "acme__widget-") + ".x"): want, id: nil, "v2.1.0": nil, "12": nil,
	} {
		cutter, err := cut.New(widget, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cutter.Slices(t.Context(), schemas.Repo{Name: "acme/widget"}, releases, selection)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", selection, err, diff)
		}
	}
	cutter, err := cut.New(nobody{}, cut.Default())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cutter.Slices(t.Context(), schemas.Repo{Name: "acme/widget"}, releases, id+".strict.core"); got != nil || err != nil {
		t.Errorf("without slices: %v, %v", got, err)
	}
}
