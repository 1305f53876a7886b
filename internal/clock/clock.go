// Package clock runs commands under a wall clock that is ahead of the real one, so that what holds
// until a day, or is named after one, shows before that day.
//
// It never runs a process: it gives commands that prepare the clock, try it and then become the
// command. Time that passes stays as it is: sleeps, timeouts and the clocks that count them.
package clock

import (
	_ "embed" // what the commands are made of
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Ahead is how far the clock is ahead: another day, another year and another time of day.
const Ahead = 400*24*time.Hour + 7*time.Hour + 13*time.Minute

// Ways by which the clock is ahead, as records name them.
const (
	ByPreload = "preload" // a library between a process and the C library
	ByOverlay = "overlay" // Go's runtime, or the time.Now of its standard library, with a line more
)

// Package is the Debian package that brings what Preload needs: a C compiler and its headers.
const Package = "g++"

// Compilers are those that Preload looks for in the sandbox's /usr/bin, the first first.
func Compilers() []string { return []string{"gcc", "cc", "clang"} }

// Exit codes of a command whose clock could not be set.
const (
	notMade   = 96
	notAsTold = 97
)

// Fault is why a command of this package did not come to what it was to run; "" where it did.
func Fault(exitCode int) string {
	switch exitCode {
	case notMade:
		return "its means could not be made in the sandbox; the log of the run says why (a C compiler is needed, or the sources of the Go toolchain)"
	case notAsTold:
		return "a program that tried the shifted clock did not see it, or waited too long; see the log of the run"
	}
	return ""
}

var (
	//go:embed ahead.c.txt
	library string
	//go:embed preload.sh
	preload string
	//go:embed try.py
	tryPython string
	//go:embed overlay.sh
	overlay string
	//go:embed try.go.txt
	tryGo string
)

// Shift is how far a clock is ahead, in whole seconds; 0 means the real time.
type Shift struct {
	Ahead time.Duration
	Files bool // the times of files are ahead as well
}

func (s Shift) seconds() string { return strconv.Itoa(int(s.Ahead / time.Second)) }

// Days is the shift that n days mean: the time of day is another one as well, as in Ahead.
func Days(n int) Shift { return Shift{Ahead: time.Duration(n)*24*time.Hour + Ahead%(24*time.Hour)} }

// ahead names the shift in a program or script.
func (s Shift) in(text string) string { return strings.ReplaceAll(text, "AHEAD", s.seconds()) }

// Preload is c under the clock, for what is linked with the C library. With s.Files the times of
// files are ahead as well. The interpreter, "" for none, is of Python 3 and tries the clock first.
//
// NOTE: libfaketime 0.9.10 has no setting that leaves both time.sleep (Python 3.11) and
// Event.wait alone, so that the library is our own: some lines of C, compiled in each run for
// the C library that is there. A binary of ours would need one for each of these.
func Preload(c schemas.Command, interpreter string, s Shift) schemas.Command {
	defined, try := "-DAHEAD="+s.seconds()+"L", ""
	if s.Files {
		defined += " -DFILES"
	}
	if interpreter != "" {
		try = s.in(tryPython)
	}
	c.Argv = append([]string{"/bin/sh", "-c", preload, "clock", library, defined, interpreter, try}, c.Argv...)
	return c
}

// Places inside the sandbox.
const (
	editedPath  = "/tmp/.benchmint-clock"
	overlayPath = sandbox.RunPath + "/clock.json"
	tryPath     = sandbox.RunPath + "/clock/main.go"
)

// Overlay is a run of go test under the clock, whose toolchain is in the folder root: its own
// overlay is kept, and added to. With s.Files the times of files are ahead as well.
//
// NOTE: from Go 1.18 on amd64 only the runtime's assembly is another one, and only the linker
// sees it: nothing is compiled again. Elsewhere, and with s.Files, time.Now and os are compiled
// with a line more, and with them all that imports them, which takes minutes in some projects.
func Overlay(run recipe.TestRun, root string, s Shift) (recipe.TestRun, error) {
	at := slices.Index(run.Command.Argv, "test")
	if at < 0 {
		return run, fmt.Errorf("it is not a go test: %s", strings.Join(run.Command.Argv, " "))
	}
	run.Command.Argv, run.Inputs = slices.Clone(run.Command.Argv), slices.Clone(run.Inputs)
	var whole struct{ Replace map[string]string }
	const flag = "-overlay="
	if i := slices.IndexFunc(run.Command.Argv, func(w string) bool { return strings.HasPrefix(w, flag) }); i >= 0 {
		own := strings.TrimPrefix(run.Command.Argv[i], flag)
		j := slices.IndexFunc(run.Inputs, func(f sandbox.File) bool { return f.Path == own })
		if j < 0 || json.Unmarshal(run.Inputs[j].Data, &whole) != nil {
			return run, fmt.Errorf("the overlay of the run cannot be read: %s", own)
		}
		run.Command.Argv = slices.Delete(run.Command.Argv, i, i+1)
	}
	if whole.Replace == nil {
		whole.Replace = map[string]string{}
	}
	edited := []string{"time/time.go"}
	if s.Files {
		edited = append(edited, "os/stat_linux.go", "os/file_posix.go")
	}
	for _, file := range edited {
		whole.Replace[path.Join(root, "src", file)] = path.Join(editedPath, path.Base(file))
	}
	data, err := json.Marshal(whole)
	if err != nil {
		return run, fmt.Errorf("writing an overlay: %w", err)
	}
	run.Command.Argv = slices.Insert(run.Command.Argv, at+1, flag+overlayPath, "-toolexec="+editedPath+"/link")
	run.Command.Argv = append(s.prepared(root, overlayPath, tryPath), run.Command.Argv...)
	run.Inputs = append(run.Inputs, sandbox.File{Path: overlayPath, Mode: 0o444, Data: data}, sandbox.File{Path: tryPath, Mode: 0o444, Data: []byte(s.in(tryGo))})
	return run, nil
}

func (s Shift) prepared(root, overlayFile, tryFile string) []string {
	return []string{"/bin/sh", "-c", s.in(overlay), "clock", path.Join(root, "bin/go"), root, overlayFile, editedPath, tryFile}
}

// Warm prepares the clock and does nothing under it, in a cache that is to hold the runtime with
// the clock ahead: the command, which never fails, and its files in the folder dir.
func Warm(root, dir string) ([]string, []sandbox.File) {
	s := Shift{Ahead: Ahead}
	overlayFile, tryFile := path.Join(dir, "clock.json"), path.Join(dir, "clock/main.go")
	argv := append([]string{"/bin/sh", "-c", `"$@" || :`, "clock"}, s.prepared(root, overlayFile, tryFile)...) // a cache that is not warm costs time
	return append(argv, "true"), []sandbox.File{{Path: overlayFile, Mode: 0o444, Data: []byte("{}")}, {Path: tryFile, Mode: 0o444, Data: []byte(s.in(tryGo))}}
}
