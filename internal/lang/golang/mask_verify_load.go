package golang

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// untested gives a package without tests, as most programs are, a file of tests without any.
const untested = `go list -e -f '{{if and .Name (not .TestGoFiles) (not .XTestGoFiles)}}{{.Name}} {{.Dir}}{{end}}' ./... 2>/dev/null |
while read -r name dir; do
	test -z "$name" || echo "package $name" >"$dir/benchmint_load_test.go"
done
json=-json
`

// loadCheck is of the module of a folder: observe.sh starts the test program of every package, which runs no test. What runs
// when the package is loaded runs then, and is covered.
func loadCheck(dir string) verify.Check {
	return verify.Check{
		What: verify.In("load", dir), Of: "packages", Whole: true,
		Command: schemas.Command{Argv: []string{"/bin/sh", "-c", untested + string(observeScript), "sh", verify.ReportPath}, Dir: dir},
		Read:    func(s verify.Said) verify.Report { return readLoad(dir, s) },
	}
}

// readLoad reads what go test says of each package, then the module's path and the blocks that were covered.
func readLoad(dir string, s verify.Said) verify.Report {
	events, covered, _ := strings.Cut(string(s.Report), "\n\x00\n")
	module, blocks, _ := strings.Cut(covered, "\n")
	var r verify.Report
	for line := range strings.Lines(blocks) {
		b, ok := blockOf(strings.TrimSuffix(line, "\n"))
		file, own := strings.CutPrefix(b.file, module+"/")
		if ok && own {
			r.Ran = append(r.Ran, mask.Seen{Path: path.Join(dir, file), Line: b.from})
		}
	}
	said := map[string][]byte{}
	other := "" // what is of no package, and before Go 1.24 what the compiler says
	for line := range strings.Lines(events) {
		var e struct{ Action, Package, Output string }
		if json.Unmarshal([]byte(line), &e) != nil {
			other += line
			continue
		}
		switch e.Action {
		case "output":
			said[e.Package] = append(said[e.Package], e.Output...)
		case "pass", "fail":
			r.Units = append(r.Units, e.Package)
			if e.Action == "fail" {
				r.Faults = append(r.Faults, loadFault(e.Package, string(said[e.Package])))
			}
		}
	}
	// Packages end in any order.
	slices.SortFunc(r.Faults, func(a, b verify.Fault) int { return strings.Compare(a.Unit, b.Unit) })
	if len(r.Units) == 0 {
		r.Untold = verify.First(other + string(s.Output))
	}
	return r
}

var (
	notBuilt = lazyregexp.New(`(?m)^FAIL\t.* \[(build|setup) failed\]$`)
	maskedAt = lazyregexp.New(`(?m)^.*\bmasked: .*$`)
	panicAt  = lazyregexp.New(`(?m)^(panic|fatal error): .*$`)
	frameAt  = lazyregexp.New(`(?m)^\t` + sandbox.TreePath + `/(.+\.go):(\d+)\b`)
)

// loadFault is why a package was not loaded, with the place that is the innermost one in the tree.
func loadFault(unit, output string) verify.Fault {
	f := verify.Fault{Unit: unit, Message: verify.First(output)}
	if notBuilt.MatchString(output) {
		f.Message = "it does not compile"
		return f
	}
	at := maskedAt.FindStringIndex(output)
	if at == nil {
		at = panicAt.FindStringIndex(output)
	}
	if at == nil {
		return f
	}
	f.Message, _, _ = strings.Cut(strings.TrimPrefix(output[at[0]:at[1]], "panic: "), " [recovered")
	if m := frameAt.FindStringSubmatch(output[at[1]:]); m != nil {
		f.Path = path.Clean(m[1])
		f.Line, _ = strconv.Atoi(m[2]) // digits
	}
	return f
}
