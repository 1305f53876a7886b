package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// own is a widget with a base tree of its own.
func own(number int, day string) change {
	c := widget(number, day)
	c.licence = fmt.Sprintf("Permission is granted to use widgets of make %d.\n", 1000+number)
	return c
}

func archives(t testing.TB, dir string, v Version) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, string(v), output.BlobsDir, "*.tar.gz"))
	must(t, err)
	for i := range all {
		all[i] = filepath.Base(all[i])
	}
	return all
}

// TestSharedArchives: the base trees of one repository come in one archive, which no later version
// changes; a purge takes one of them out of it in every version.
func TestSharedArchives(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two, three, cog := own(1, "2025-01-10"), own(2, "2025-01-11"), own(3, "2025-02-02"), gear(1, "2025-01-12")
	o := options(work(t, nil, one, two, cog), "2025-02-01")
	publish(t, dir, o)
	first := archives(t, dir, "2025.02")
	if len(first) != 2 {
		t.Fatalf("%d archives for two repositories", len(first))
	}
	docker := taskOf(t, dir, "2025.02", two.id())[output.DockerfileFile]
	if !strings.Contains(docker, "\nFROM ${BASE} AS trees\nUSER root\nADD blobs/") || !strings.Contains(docker, "\nCOPY --from=trees /trees/") || strings.Contains(docker, "\nADD blobs/"+output.BlobsDir) {
		t.Error(docker)
	}
	o.Work, o.AsOf = work(t, nil, one, two, three, cog), o.AsOf.AddDate(0, 1, 0)
	publish(t, dir, o)
	if got := archives(t, dir, "2025.03"); len(got) != 3 || slices.ContainsFunc(first, func(a string) bool { return !slices.Contains(got, a) }) {
		t.Errorf("%q after %q", got, first)
	}
	corrected(t, dir, Act{IDs: []string{one.id()}, Reason: "takedown", Text: "Its owner asks.", Purge: true})
	holds(t, dir)
	for name, b := range contents(t, dir) {
		if strings.Contains(unpacked(t, name, b), "make 1001") {
			t.Errorf("%s holds the purged tree", name)
		}
	}
	for _, v := range []Version{"2025.02", "2025.03", "2025.03.1"} {
		if got := archives(t, dir, v); len(got) < len(first) || slices.Contains(got, first[0]) && slices.Contains(got, first[1]) {
			t.Errorf("%s: %q", v, got)
		}
	}
}

// keeping is a Keep that makes one package for each lock, and counts.
type keepings struct{ asked []string }

func (k *keepings) keep(_ context.Context, _ string, r schemas.Recipe, dir string) (packages.Environment, error) {
	k.asked = append(k.asked, r.Lock)
	f, err := packages.Store(dir, func(w io.Writer) error { _, err := io.WriteString(w, r.Lock); return err })
	f.Kind, f.Name, f.File = packages.Wheel, "toy", "toy-1-py3-none-any.whl"
	return packages.Environment{Recipe: packages.KeyOf(r), Language: r.Language, Toolchains: []schemas.Toolchain{r.Toolchain}, Complete: true, Files: []packages.File{f}}, err
}

func locked(c change, lock string) change {
	c.edit = func(t *output.Task) { t.Environment.Recipe.Lock = lock }
	return c
}

// TestKeepPackages: each environment's packages are got once, and carried from version to version
// while a task needs them.
func TestKeepPackages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two, three := locked(widget(1, "2025-01-10"), "a==1\n"), locked(widget(2, "2025-01-11"), "a==1\n"), locked(gear(1, "2025-02-12"), "b==1\n")
	k := &keepings{}
	o := options(work(t, nil, one, two), "2025-02-01")
	o.Keep = func(context.Context, string, schemas.Recipe, string) (packages.Environment, error) {
		return packages.Environment{}, errors.New("the registry does not answer")
	}
	if _, err := plan(dir, o, true); err == nil {
		t.Fatal("published without what it keeps")
	}
	o.Keep = k.keep
	publish(t, dir, o)
	o.Work, o.AsOf = work(t, nil, one, two, three), o.AsOf.AddDate(0, 1, 0)
	publish(t, dir, o)
	if got := k.asked; !slices.Equal(got, []string{"a==1\n", "b==1\n"}) {
		t.Errorf("asked for %q", got)
	}
	card := read(t, filepath.Join(dir, "2025.03", output.CardFile))
	if !strings.Contains(card, "from kept packages: 3 of 3 (100 %).") || !strings.Contains(card, "| Packages | 2 |") {
		t.Error(card)
	}
	corrected(t, dir, Act{IDs: []string{three.id()}, Reason: "unfair", Text: "No."})
	holds(t, dir)
	d, err := output.Read(filepath.Join(dir, "2025.03.1"))
	must(t, err)
	x, err := d.Packages()
	must(t, err)
	if len(x.Environments) != 1 || d.Manifest.Storage.Packages != 1 || d.Manifest.Storage.Provable != 2 {
		t.Errorf("%+v, %+v", x, d.Manifest.Storage)
	}
}

// TestCheckOfPackages: check finds a kept package that was changed, is gone, or that the index
// does not name.
func TestCheckOfPackages(t *testing.T) {
	t.Parallel()
	shelf := filepath.Join(t.TempDir(), "releases")
	lock := "a==1 --hash=" + string(schemas.DigestBytes([]byte("other"))) + "\n"
	o := options(work(t, nil, locked(widget(1, "2025-01-10"), "a==1\n"), locked(gear(1, "2025-01-10"), lock)), "2025-02-01")
	o.Keep = (&keepings{}).keep
	o.Without = append(o.Without, "lint") // the second environment lacks what its lock names
	_, err := plan(shelf, o, true)
	must(t, err)
	dir := filepath.Join(shelf, "2025.02")
	findings, err := output.Check(dir)
	must(t, err)
	if len(findings) != 1 || !strings.Contains(findings[0].String(), "packages.json: packages: the environment") || !strings.Contains(findings[0].String(), "has no file for a==1 of its lock") {
		t.Fatalf("%v", findings)
	}
	name := output.PackagePath(schemas.DigestBytes([]byte("a==1\n")))
	for what, harm := range map[string]struct {
		do   func(dir string) error
		want string
	}{
		"changed": {func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte("a==2\n"), 0o600) }, name + ": digest: its bytes are"},
		"longer":  {func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte("a==1\n\n"), 0o600) }, name + ": packages: it is not toy-1-py3-none-any.whl, of 5 bytes"},
		"gone":    {func(dir string) error { return os.Remove(filepath.Join(dir, name)) }, name + ": packages: packages.json names it"},
		"not in the index": {func(dir string) error {
			file := filepath.Join(dir, output.PackagesFile)
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, []byte(strings.Replace(string(b), schemas.DigestBytes([]byte("a==1\n")).Hex(), schemas.DigestBytes([]byte("x")).Hex(), 1)), 0o600)
		}, name + ": packages: packages.json does not name it"},
		"no index": {func(dir string) error { return os.Remove(filepath.Join(dir, output.PackagesFile)) }, "manifest.json: count: storage is"},
	} {
		copied := clone(t, dir)
		must(t, harm.do(copied))
		findings, err := output.Check(copied)
		must(t, err)
		if !slices.ContainsFunc(findings, func(f output.Finding) bool { return strings.HasPrefix(f.String(), harm.want) }) {
			t.Errorf("%s: %v", what, findings)
		}
	}
}
