package inventory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// System is the host's own system, as far as environments see it.
type System struct {
	Sight schemas.Digest `json:"sight,omitempty"`
	Name  string         `json:"name,omitempty"` // Debian GNU/Linux 12 (bookworm)
	// Packages are the names of those that are installed, sorted. Versions are left out:
	// a security update is no other machine.
	Packages []string `json:"packages,omitempty"`
}

// The files by which a change of the system is seen.
const (
	release    = "/etc/os-release"
	dpkgStatus = "/var/lib/dpkg/status"
)

// asker is what the sandbox asks for packages, too.
const asker = "dpkg-query"

func takeSystem(ctx context.Context, last System) (System, error) {
	var seen []string
	exe, err := exec.LookPath(asker)
	for _, f := range []string{release, dpkgStatus, exe} {
		if info, err := os.Stat(f); err == nil {
			seen = append(seen, fmt.Sprintf("%s %d %d", f, info.Size(), info.ModTime().UnixNano()))
		}
	}
	now := System{Sight: schemas.DigestOf(seen)}
	if now.Sight == last.Sight {
		return last, nil
	}
	b, readErr := os.ReadFile(release)
	if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
		return now, readErr
	}
	now.Name = nameOf(b)
	if err != nil {
		return now, nil // no Debian: it has no packages of that kind
	}
	out, err := exec.CommandContext(ctx, exe, "-W", "-f", "${db:Status-Abbrev}\t${Package}\t${Section}\n").Output()
	if ctx.Err() != nil {
		return now, ctx.Err()
	}
	if err != nil {
		return now, fmt.Errorf("listing the installed packages: %w", err)
	}
	now.Packages = packages(out)
	return now, nil
}

// nameOf reads PRETTY_NAME.
func nameOf(release []byte) string {
	for line := range bytes.Lines(release) {
		if v, ok := bytes.CutPrefix(line, []byte("PRETTY_NAME=")); ok {
			return strings.Trim(strings.TrimSpace(string(v)), `"'`)
		}
	}
	return ""
}

// idle are the sections of packages that nothing is built with.
var idle = []string{"kernel", "doc", "localization", "metapackages"}

// packages are the installed ones of dpkg-query's list.
func packages(list []byte) []string {
	var out []string
	for line := range strings.Lines(string(list)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 || !strings.HasPrefix(f[0], "ii") {
			continue
		}
		section := f[2][strings.LastIndexByte(f[2], '/')+1:] // contrib/kernel
		if !slices.Contains(idle, section) {
			out = append(out, f[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// few is how many packages are named one by one.
const few = 5

// over lists what a system has and another has not.
func (s System) over(other System) []Difference {
	var out []Difference
	// Another release may build what did not build, for whatever reason.
	if s.Name != other.Name && s.Name != "" {
		out = append(out, Difference{s.Name, "", []schemas.Reason{schemas.HostPackages, schemas.NoBuild}})
	}
	if slices.Equal(s.Packages, other.Packages) {
		return out
	}
	come := without(s.Packages, other.Packages)
	if len(come) == 0 {
		return out
	}
	text := "package " + strings.Join(come, ", package ")
	if len(come) > few {
		text = fmt.Sprintf("%d packages (%s, …)", len(come), strings.Join(come[:few], ", "))
	}
	return append(out, Difference{text, "", []schemas.Reason{schemas.HostPackages}})
}
