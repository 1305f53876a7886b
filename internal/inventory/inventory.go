// Package inventory says what of this machine decides whether an environment can be
// made on it at all: its toolchains, its sandbox, and, where sandboxes show the host's
// own system, the packages of that. A store notes it, so that what was rejected for the
// want of something is tried again when it is there.
//
// It never decides what is made of it, is part of no fingerprint, and asks no registry:
// a registry that does not answer now is no other machine.
package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

// Inventory is what one machine has. A sight is a digest of files by which it is seen,
// without a process, that nothing has changed: it means something on its own machine only.
type Inventory struct {
	Sandbox    string               `json:"sandbox"`
	System     System               `json:"system"`
	Toolchains map[string]Toolchain `json:"toolchains"` // by name
}

// Toolchain is what is there of one name.
type Toolchain struct {
	Sight    schemas.Digest `json:"sight"`
	Versions []string       `json:"versions"` // of this machine itself, oldest first
	// Newest is the newest that a registry had when it was last asked, at Asked; "" before.
	// Whether one can be had at all is decided by it alone, so that a new patch release of
	// an older version is no change.
	Newest string    `json:"newest,omitempty"`
	Asked  time.Time `json:"asked,omitzero"`
}

// Machine is what an inventory is taken of.
type Machine interface {
	// Installed lists toolchains of this machine; Sight is how they look.
	Installed(ctx context.Context, names ...string) ([]lang.ToolchainRelease, error)
	Sight(name string) schemas.Digest
}

// Parse reads a note; "" is the zero Inventory.
func Parse(note string) (Inventory, error) {
	var i Inventory
	if note == "" {
		return i, nil
	}
	if err := json.Unmarshal([]byte(note), &i); err != nil {
		return i, fmt.Errorf("reading the inventory: %w", err)
	}
	return i, nil
}

// String is the note that Parse reads.
func (i Inventory) String() string {
	b, err := json.Marshal(i)
	if err != nil {
		panic(err) // of strings and times: it cannot be
	}
	return string(b)
}

// Take looks at a machine. What looks as in last is as in last, and what names does not
// ask for is left as it was there.
func Take(ctx context.Context, m Machine, last Inventory, sandbox string, names []string) (Inventory, error) {
	now := Inventory{Sandbox: sandbox, Toolchains: map[string]Toolchain{}}
	for name, t := range last.Toolchains {
		now.Toolchains[name] = t
	}
	for _, name := range names {
		t, known := last.Toolchains[name]
		if sight := m.Sight(name); !known || t.Sight != sight {
			all, err := m.Installed(ctx, name)
			if err != nil {
				return now, fmt.Errorf("looking for %s: %w", name, err)
			}
			t.Sight, t.Versions, t.Asked = sight, versions(all), time.Time{} // another may ask another registry
		}
		now.Toolchains[name] = t
	}
	var err error
	if sandbox == showsHost {
		now.System, err = takeSystem(ctx, last.System)
	}
	return now, err
}

// showsHost is the kind of sandbox in which the host's own system is seen.
const showsHost = "bwrap"

func versions(all []lang.ToolchainRelease) []string {
	out := []string{}
	for _, t := range all {
		out = append(out, t.Version)
	}
	return out
}

// Difference is one thing that one machine has and another has not.
type Difference struct {
	Text      string // "python 3.12.1"
	Toolchain string // its name, "" of the system
	// Opens are the reasons of rejects that may end otherwise with it.
	Opens []schemas.Reason
}

// New lists what a machine has now and had not before. What is gone is not listed: no
// reject is wrong for that. names are the toolchains in question.
func (i Inventory) New(before Inventory, names []string) []Difference {
	var out []Difference
	for _, name := range names {
		now, was := i.Toolchains[name], before.Toolchains[name]
		for _, v := range without(now.Versions, was.Versions) {
			out = append(out, Difference{name + " " + v, name, []schemas.Reason{schemas.NoToolchain}})
		}
		if now.Newest != was.Newest && now.Newest != "" && !slices.Contains(now.Versions, now.Newest) {
			out = append(out, Difference{name + " " + now.Newest, name, []schemas.Reason{schemas.NoToolchain}})
		}
	}
	return append(out, i.System.over(before.System)...)
}

// Differences says in words how two machines differ in what a run with these toolchains
// rests on: nothing where recipes that are made on one can be built on the other.
func Differences(there, here Inventory, names []string) []string {
	var out []string
	if there.Sandbox != here.Sandbox {
		out = append(out, fmt.Sprintf("the sandbox is %s there and %s here", there.Sandbox, here.Sandbox))
	}
	for _, side := range []struct {
		a, b  Inventory
		where string
	}{{there, here, "there"}, {here, there, "here"}} {
		var only []string
		for _, name := range names {
			for _, v := range without(side.a.Toolchains[name].Versions, side.b.Toolchains[name].Versions) {
				only = append(only, name+" "+v)
			}
		}
		for _, d := range side.a.System.over(side.b.System) {
			only = append(only, d.Text)
		}
		if len(only) > 0 {
			out = append(out, "only "+side.where+": "+shortened(only))
		}
	}
	return out
}

// shortened keeps a long list readable.
func shortened(all []string) string {
	if len(all) <= few {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:few], ", "), len(all)-few)
}

// without is a less b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return slices.Contains(b, x) })
}
