package golang

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ verify.Language = Masker{}

// Toolchain is the go of this machine, with the modules that were downloaded.
func (Masker) Toolchain(ctx context.Context, m verify.Machine) (*verify.Kit, error) {
	program, err := m.Look("go")
	if err != nil {
		return nil, err
	}
	answer, err := m.Ask(ctx, program, "env", "-json", "GOROOT", "GOMODCACHE", "GOVERSION")
	if err != nil {
		return nil, err
	}
	var here struct{ GOROOT, GOMODCACHE, GOVERSION string }
	if err := json.Unmarshal([]byte(answer), &here); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	const cache = sandbox.HomePath + "/.cache/go-build"
	kit := &verify.Kit{Label: "go " + strings.TrimPrefix(here.GOVERSION, "go"), Caches: map[string]string{"go-std-verify": cache}}
	root, err := kit.Show("goroot", here.GOROOT)
	if err != nil {
		return nil, err
	}
	modules, err := kit.Show("gomodcache", here.GOMODCACHE)
	if err != nil {
		modules = sandbox.HomePath + "/go/pkg/mod" // nothing was downloaded yet
	}
	kit.Env = map[string]string{
		"GOROOT": root, "GOMODCACHE": modules, "GOCACHE": cache, "PATH": root + "/bin:/usr/bin:/bin",
		"GOPROXY": "off", "GOSUMDB": "off", "GOTOOLCHAIN": "local", "GOENV": "off", "GOFLAGS": "-buildvcs=false",
	}
	kit.Fill = fillVerify(kit)
	return kit, nil
}

// fillVerify compiles and vets what trees use of the standard library, once for a version
// of Go. A check compiles a tree, and with it the C code that cgo finds there: it writes
// nothing that another tree's check reads.
func fillVerify(kit *verify.Kit) *sandbox.Fill {
	const fill = `[ -e "$GOCACHE/$0" ] || { go list -export -test ./... >/dev/null && go vet ./... && : >"$GOCACHE/$0"; }`
	test := standardSource(slices.Collect(maps.Keys(heavy)))
	mark := "filled-" + schemas.DigestBytes([]byte(kit.Label+test)).Short()
	return &sandbox.Fill{
		Env: kit.Env, Files: standardFiles(test),
		Steps: []schemas.Command{{Argv: []string{"/bin/sh", "-c", fill, mark}, Dir: standardDir}},
	}
}

// list compiles every package with its tests, and goes on after one that does not;
// vet stops at a package that cannot be loaded, so it is given the others.
const list = `set -e
go list -e -export -test -json=ImportPath,Error,DepsErrors ./... >"$1" 2>/tmp/list || cat /tmp/list
go list -e -f '{{if not .Incomplete}}{{.ImportPath}}{{end}}' ./... >/tmp/whole 2>/dev/null || true
test ! -s /tmp/whole || xargs go vet </tmp/whole || true
`

// Checks are two for each module: that it compiles, and that it is loaded.
func (Masker) Checks(t *verify.Tree, _ *verify.Kit) ([]verify.Check, error) {
	var out []verify.Check
	for _, dir := range t.Folders("go.mod") {
		out = append(out, verify.Check{
			What: verify.In("go build and vet", dir), Of: "packages", Whole: true,
			Command: schemas.Command{Argv: []string{"/bin/sh", "-c", list, "sh", verify.ReportPath}, Dir: dir},
			Read:    func(s verify.Said) verify.Report { return readList(dir, s) },
		}, loadCheck(dir))
	}
	if len(out) == 0 {
		return nil, errors.New("the source has no go.mod")
	}
	return out, nil
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Error      *listFault
	DepsErrors []*listFault
}

type listFault struct{ Pos, Err string }

func readList(dir string, s verify.Said) verify.Report {
	var r verify.Report
	dec := json.NewDecoder(bytes.NewReader(s.Report))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			r.Untold = "go list: " + err.Error()
			return r
		}
		if strings.HasSuffix(p.ImportPath, ".test") {
			continue // made by go from the others
		}
		r.Units = append(r.Units, p.ImportPath)
		faults := p.DepsErrors
		if p.Error != nil {
			faults = append(faults, p.Error)
		}
		for _, f := range faults {
			r.Faults = append(r.Faults, packageFaults(dir, p.ImportPath, f)...)
		}
	}
	if len(r.Units) == 0 {
		r.Untold = verify.First(string(s.Output))
		return r
	}
	r.Faults = append(r.Faults, vetFaults(dir, string(s.Output), r.Faults)...)
	return r
}

var compilerLine = lazyregexp.New(`^(?:vet: )?(?:\./)?([^\s:][^:]*):(\d+)(?::\d+)?: (.*)$`)

// packageFaults are what the compiler says of a package, or what kept it from being
// compiled.
func packageFaults(dir, unit string, f *listFault) []verify.Fault {
	var out []verify.Fault
	for line := range strings.Lines(f.Err) {
		if m := compilerLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			out = append(out, faultAt(dir, unit, m[1:]))
		}
	}
	if len(out) > 0 {
		return out
	}
	fault := verify.Fault{Unit: unit, Message: verify.First(f.Err)}
	if m := compilerLine.FindStringSubmatch(f.Pos + ": "); m != nil {
		fault = faultAt(dir, unit, []string{m[1], m[2], fault.Message})
	}
	return []verify.Fault{fault}
}

func faultAt(dir, unit string, m []string) verify.Fault {
	line, _ := strconv.Atoi(m[1]) // digits
	return verify.Fault{Unit: unit, Path: path.Join(dir, m[0]), Line: line, Message: m[2]}
}

// vetFaults fail no package: go test runs a part of vet only. What the compiler said is
// known.
func vetFaults(dir, output string, known []verify.Fault) []verify.Fault {
	var out []verify.Fault
	for line := range strings.Lines(output) {
		m := compilerLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		f := faultAt(dir, "", m[1:])
		said := slices.ContainsFunc(known, func(k verify.Fault) bool { return k.Path == f.Path && k.Line == f.Line && k.Message == f.Message })
		if !said {
			f.Message = "vet: " + f.Message
			out = append(out, f)
		}
	}
	return out
}
