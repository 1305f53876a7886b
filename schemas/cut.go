package schemas

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Cut is one release that a library task is made of, or a part of one; or a commit of a service
// with the group of its endpoints that a task is about.
type Cut struct {
	Repo       string  `json:"repo"` // Repo.Name
	RepoRoot   string  `json:"repo_root"`
	Licence    string  `json:"licence,omitempty"`  // Repo.Licence
	Category   string  `json:"category,omitempty"` // Source.Category
	CategoryBy string  `json:"category_by,omitempty"`
	Release    Release `json:"release"`
	// Profile is how bodies are masked (docs/mask.md).
	Profile string `json:"profile"`
	// Slice is the part of the library that is masked; nil is the whole.
	Slice *Slice `json:"slice,omitempty"`
	// Group is set for a service, and Slice then has its handlers.
	Group *Group `json:"group,omitempty"`
	// Deploy is set for the environment variant of a service.
	Deploy *Deploy `json:"deploy,omitempty"`
}

// Kind is service where the cut has a group, else library.
func (c Cut) Kind() Kind {
	if c.Group != nil {
		return KindService
	}
	return KindLibrary
}

// ID is owner__name-TAG.library[.PROFILE[.SLICE]], or owner__name-TAG.GROUP.service[.env].
func (c Cut) ID() string {
	if c.Group != nil {
		variant := ""
		if c.Deploy != nil {
			variant = VariantEnv
		}
		return ServiceID(c.Repo, c.Release.Tag, c.Group.Name, variant).String()
	}
	profile, slice := c.Profile, ""
	if profile == strict {
		profile = ""
	}
	if c.Slice != nil {
		slice = c.Slice.Name
	}
	return LibraryID(c.Repo, c.Release.Tag, profile, slice).String()
}

// The slices that tasks are made of, as the configuration names them.
const (
	WholeLibrary   = "whole"
	ModuleSlices   = "modules"   // a source file each
	FunctionSlices = "functions" // a function each
)

// FunctionDivider stands between the path and the name of a function.
const FunctionDivider = "::"

// Slice is the part of a library or service that a task is about. One of Module, Function and
// Handlers is set.
type Slice struct {
	Module   string   `json:"module,omitempty"`   // path of a source file
	Function string   `json:"function,omitempty"` // path::Class.method
	Handlers []string `json:"handlers,omitempty"` // of a group of endpoints: path::Class.method, path::setup:12, sorted
	// Name is what the ID has of it, before it is made fit for one: no two slices of a release
	// have the same, whatever their case.
	Name string `json:"name"`
}

// Path is the file that the slice is in.
func (s Slice) Path() string {
	path, _, _ := strings.Cut(s.Module+s.Function, FunctionDivider)
	return path
}

// Holds reports whether a function (path::Class.method) is in the slice.
func (s Slice) Holds(function string) bool {
	if len(s.Handlers) > 0 {
		return slices.Contains(s.Handlers, function)
	}
	if s.Function != "" {
		return function == s.Function
	}
	return strings.HasPrefix(function, s.Module+FunctionDivider)
}

// LineDivider stands before the line of a function without a name, behind the function around it: setup:12.
const LineDivider = ":"

// FunctionName is how records name a function: path::Class.method.
func FunctionName(path, name string) string { return RecordPath(path) + FunctionDivider + name }

func (s Slice) String() string {
	if len(s.Handlers) > 0 {
		return "group " + s.Name
	}
	if s.Function != "" {
		return "function " + s.Function
	}
	return "module " + s.Module
}

// Validate names what no slice can be.
func (s Slice) Validate() error {
	_, name, of := strings.Cut(s.Function, FunctionDivider)
	switch {
	case s.Name == "":
		return errors.New("a slice without a name")
	case len(s.Handlers) > 0 && s.Module+s.Function == "":
		return nil
	case len(s.Handlers) > 0 || (s.Module == "") == (s.Function == ""):
		return fmt.Errorf("slice %q has module %q, function %q and %d handlers, not one of the three", s.Name, s.Module, s.Function, len(s.Handlers))
	case s.Function != "" && (!of || name == "" || s.Path() == ""):
		return fmt.Errorf("slice %q: function %q is not path::Class.method", s.Name, s.Function)
	}
	return nil
}

// Stable is the cut without what later work in its repository can alter.
func (c Cut) Stable() Cut {
	c.Category, c.CategoryBy, c.Release.Body, c.Release.OffBranch, c.Release.Previous = "", "", "", false, ""
	return c
}

// Masked says what was taken out of the solution to make the base.
type Masked struct {
	Manifest Digest `json:"manifest"` // blob: what was done to each function of the code part
	Profile  string `json:"profile"`
	// Slice is the part that all figures are about; nil is the code part.
	Slice *Slice `json:"slice,omitempty"`
	// Functions are those of the code part: Taken lost their bodies or are gone, Kept stay, by
	// the reason.
	Functions int            `json:"functions"`
	Taken     int            `json:"taken"`
	Kept      map[string]int `json:"kept,omitempty"`
	// Lines are body lines of the code part, without blank ones and comments; Left are those
	// that stay, with the lines of sources in languages that are not masked.
	Lines int `json:"body_lines"`
	Left  int `json:"body_lines_left"`
	// Difficulty is that of what was taken out; nil in records of older versions.
	Difficulty *Difficulty `json:"difficulty,omitempty"`
	// Copies are the files of a library's release, beside its code, that hold lines of the bodies.
	Copies []BodyCopy `json:"copies,omitempty"`
}

// BodyCopy is a file that holds lines of bodies. It is neither in the starter nor in the solution,
// unless it stays.
type BodyCopy struct {
	Path string `json:"path"`
	How  string `json:"how,omitempty"` // what hides it: a member of an archive, an encoding
	// Stays says that the build or the tests may need the file.
	Stays bool `json:"stays,omitempty"`
}

// Difficulty are facts about the bodies that were taken out.
type Difficulty struct {
	Lines    int `json:"lines"`    // without blank ones and comments
	Branches int `json:"branches"` // if, loops, cases, handlers, conditional expressions, and/or
	FanIn    int `json:"fan_in"`   // functions of the tree that call each of them, summed up
	Depth    int `json:"depth"`    // deepest nesting of blocks in one of them
}

// Share is the part of the body lines that stays, 0 to 1.
func (m Masked) Share() float64 {
	if m.Lines == 0 {
		return 0
	}
	return float64(m.Left) / float64(m.Lines)
}
