package inventory_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/inventory"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

// machine is one with these versions; asked counts who wanted to know them.
type machine struct {
	versions map[string][]string
	asked    int
}

func (m *machine) Sight(name string) schemas.Digest { return schemas.DigestOf(m.versions[name]) }

func (m *machine) Installed(_ context.Context, names ...string) ([]lang.ToolchainRelease, error) {
	m.asked++
	var out []lang.ToolchainRelease
	for _, name := range names {
		for _, v := range m.versions[name] {
			out = append(out, lang.ToolchainRelease{Name: name, Version: v})
		}
	}
	return out, nil
}

var both = []string{"python", "go"}

func take(t *testing.T, m *machine, last inventory.Inventory, sandbox string, names []string) inventory.Inventory {
	t.Helper()
	now, err := inventory.Take(t.Context(), m, last, sandbox, names)
	if err != nil {
		t.Fatal(err)
	}
	again, err := inventory.Parse(now.String()) // as the next run reads it
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(now, again); diff != "" {
		t.Errorf("note (-written +read):\n%s", diff)
	}
	return again
}

func TestNew(t *testing.T) {
	t.Parallel()
	toolchain, packages := []schemas.Reason{schemas.NoToolchain}, []schemas.Reason{schemas.HostPackages}
	python := func(versions ...string) inventory.Inventory {
		return inventory.Inventory{Toolchains: map[string]inventory.Toolchain{"python": {Versions: versions}}}
	}
	golang := func(newest string, versions ...string) inventory.Inventory {
		return inventory.Inventory{Toolchains: map[string]inventory.Toolchain{"go": {Versions: versions, Newest: newest}}}
	}
	system := func(name string, packages ...string) inventory.Inventory {
		return inventory.Inventory{System: inventory.System{Name: name, Packages: packages}}
	}
	for name, c := range map[string]struct {
		before, now inventory.Inventory
		want        []inventory.Difference
	}{
		"nothing":          {python("3.11.2"), python("3.11.2"), nil},
		"version":          {python("3.11.2"), python("3.11.2", "3.12.1"), []inventory.Difference{{"python 3.12.1", "python", toolchain}}},
		"version_gone":     {python("3.11.2", "3.12.1"), python("3.11.2"), nil},
		"first_go":         {python("3.11.2"), golang("", "1.26.0"), []inventory.Difference{{"go 1.26.0", "go", toolchain}}},
		"registry_has_new": {golang("1.26.0", "1.25.1"), golang("1.27.0", "1.25.1"), []inventory.Difference{{"go 1.27.0", "go", toolchain}}},
		"registry_silent":  {golang("1.26.0", "1.25.1"), golang("", "1.25.1"), nil},
		"newest_is_ours":   {golang("", "1.26.0"), golang("1.26.0", "1.26.0"), nil},
		"package":          {system("D", "a", "b"), system("D", "a", "b", "libpcap-dev"), []inventory.Difference{{"package libpcap-dev", "", packages}}},
		"package_gone":     {system("D", "a", "b"), system("D", "a"), nil},
		"many_packages": {system("D"), system("D", "a", "b", "c", "d", "e", "f"), []inventory.Difference{
			{"6 packages (a, b, c, d, e, …)", "", packages},
		}},
		"upgrade": {system("D 12", "a"), system("D 13", "a"), []inventory.Difference{{"D 13", "", []schemas.Reason{schemas.HostPackages, schemas.NoBuild}}}},
	} {
		if diff := cmp.Diff(c.want, c.now.New(c.before, both)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What looks as it did is not asked, and what is not in question stays as it was.
func TestTake(t *testing.T) {
	t.Parallel()
	m := &machine{versions: map[string][]string{"python": {"3.11.2"}, "go": {"1.26.0"}}}
	first := take(t, m, inventory.Inventory{}, "docker", both)
	first.Toolchains["go"] = inventory.Toolchain{Sight: first.Toolchains["go"].Sight, Versions: []string{"1.26.0"}, Newest: "1.27.0", Asked: time.Unix(1e9, 0).UTC()}
	if m.asked != 2 {
		t.Fatalf("%d questions, want 2", m.asked)
	}
	if diff := cmp.Diff(first, take(t, m, first, "docker", both)); diff != "" || m.asked != 2 {
		t.Errorf("%d questions, of the same machine (-first +second):\n%s", m.asked, diff)
	}
	m.versions = map[string][]string{"python": {"3.11.2", "3.12.1"}}
	second := take(t, m, first, "docker", []string{"python"})
	if diff := cmp.Diff(first.Toolchains["go"], second.Toolchains["go"]); diff != "" || m.asked != 3 {
		t.Errorf("%d questions; go was not in question (-was +is):\n%s", m.asked, diff)
	}
	// Another go command may ask another registry: what the old one was told is old.
	m.versions["go"] = []string{"1.25.0"}
	if got := take(t, m, second, "docker", both).Toolchains["go"]; !got.Asked.IsZero() || got.Newest != "1.27.0" {
		t.Errorf("asked at %v, newest %q", got.Asked, got.Newest)
	}
	if s := take(t, m, first, "docker", nil).System; s.Name != "" || s.Packages != nil {
		t.Errorf("docker does not show the host's system: %+v", s)
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	here := inventory.Inventory{Sandbox: "bwrap", Toolchains: map[string]inventory.Toolchain{
		"python": {Sight: "a", Versions: []string{"3.11.2", "3.12.1"}}, "go": {Versions: []string{"1.26.0"}, Newest: "1.27.0"},
	}, System: inventory.System{Sight: "a", Name: "D 12", Packages: []string{"a", "b"}}}
	there := inventory.Inventory{Sandbox: "docker", Toolchains: map[string]inventory.Toolchain{
		"python": {Sight: "b", Versions: []string{"3.11.2", "3.13.0"}},
	}, System: inventory.System{Sight: "b", Name: "D 12", Packages: []string{"b", "c"}}}
	for name, c := range map[string]struct {
		there, here inventory.Inventory
		names, want []string
	}{
		"same": {here, here, both, nil},
		"all":  {there, here, both, []string{"the sandbox is docker there and bwrap here", "only there: python 3.13.0, package c", "only here: python 3.12.1, go 1.26.0, package a"}},
		"no_go_asked": {there, here, []string{"python"}, []string{
			"the sandbox is docker there and bwrap here", "only there: python 3.13.0, package c", "only here: python 3.12.1, package a",
		}},
	} {
		if diff := cmp.Diff(c.want, inventory.Differences(c.there, c.here, c.names)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
