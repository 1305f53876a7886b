package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// In names a check of one folder.
func In(what, dir string) string {
	if dir == "." || dir == "" {
		return what
	}
	return what + " in " + dir
}

// listPath holds what a command is to be run on.
const listPath = sandbox.RunPath + "/list"

// List is an input with a line for each entry, and its path.
func List(entries []string) (sandbox.File, string) {
	return sandbox.File{Path: listPath, Mode: 0o644, Data: []byte(strings.Join(entries, "\n") + "\n")}, listPath
}

// each runs a program on one file after another; what it says and its exit code stand
// between zero bytes.
const each = `list=$1 report=$2; shift 2
while IFS= read -r file; do
	printf '%s\000' "$file"
	"$@" "./$file" </dev/null >/tmp/said 2>&1
	code=$?
	tr -d '\000' </tmp/said
	printf '\000%d\000' $code
done <"$list" >"$report"
`

// EachFile is a check that runs a program on every file that was changed, and takes an
// exit code other than 0 for a fault.
func EachFile(what string, t *Tree, argv []string, read func(file, said string) Fault) Check {
	list, at := List(t.Changed)
	return Check{
		What: what, Of: "files", Whole: true, Inputs: []sandbox.File{list},
		Command: schemas.Command{Argv: append([]string{"/bin/sh", "-c", each, "sh", at, ReportPath}, argv...)},
		Read: func(s Said) Report {
			var r Report
			for rest := s.Report; ; {
				var file, said, code []byte
				var ok bool
				file, rest, _ = bytes.Cut(rest, []byte{0})
				said, rest, _ = bytes.Cut(rest, []byte{0})
				if code, rest, ok = bytes.Cut(rest, []byte{0}); !ok {
					break
				}
				r.Units = append(r.Units, string(file))
				if string(code) != "0" {
					f := read(string(file), string(said))
					f.Unit, f.Path = string(file), string(file)
					r.Faults = append(r.Faults, f)
				}
			}
			if len(r.Units) == 0 {
				r.Untold = First(string(s.Output))
			}
			return r
		},
	}
}

// ImportSeconds is the time for the import of one module: one that waits for a terminal
// or a server must not hold the others up.
const ImportSeconds = 60

// ReadLines reads a report with a Fault in JSON on each line: one without a message is a
// unit that holds.
func ReadLines(s Said) Report {
	var r Report
	for line := range bytes.Lines(s.Report) {
		var f Fault
		if err := json.Unmarshal(line, &f); err != nil {
			r.Untold = "the report of the import: " + err.Error()
			return r
		}
		r.Units = append(r.Units, f.Unit)
		if f.Message != "" {
			r.Faults = append(r.Faults, f)
		}
	}
	if s.Code != 0 {
		lines := strings.Split(strings.TrimSpace(string(s.Output)), "\n")
		r.Untold = fmt.Sprintf("the import ended with exit code %d: %s", s.Code, lines[len(lines)-1])
	}
	return r
}
