package golang

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// load starts the test program of every package, which runs no test: what runs when the package is loaded runs then. A package
// without tests, as most programs are, gets a file of tests without any.
const load = `go list -e -f '{{if and .Name (not .TestGoFiles) (not .XTestGoFiles)}}{{.Name}} {{.Dir}}{{end}}' ./... 2>/dev/null |
while read -r name dir; do
	test -z "$name" || echo "package $name" >"$dir/benchmint_load_test.go"
done
go test -json -count=1 -timeout=2m -vet=off -run='^$' ./... >"$1" 2>/tmp/load || cat /tmp/load
`

// loadCheck is of the module of a folder.
func loadCheck(dir string) verify.Check {
	return verify.Check{
		What: verify.In("load", dir), Of: "packages", Whole: true,
		Command: schemas.Command{Argv: []string{"/bin/sh", "-c", load, "sh", verify.ReportPath}, Dir: dir},
		Read:    readLoad,
	}
}

// readLoad reads what go test says of each package.
func readLoad(s verify.Said) verify.Report {
	var r verify.Report
	said := map[string][]byte{}
	for line := range bytes.Lines(s.Report) {
		var e struct{ Action, Package, Output string }
		if json.Unmarshal(line, &e) != nil { // before Go 1.24, what the compiler says
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
		r.Untold = verify.First(string(s.Output))
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
