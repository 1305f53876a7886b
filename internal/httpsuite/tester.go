package httpsuite

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Language is that of the suite, and installer what its packages are installed with.
const (
	Language  = "python"
	installer = "uv"
)

// oldestPython is the oldest interpreter that the suite runs with.
const oldestPython = "v3.9"

// Tester is the recipe of the environment that suites run in, without its set-up: the newest
// CPython of those available, and the packages of the suite's requirements.txt.
func Tester(available []lang.ToolchainRelease) (schemas.Recipe, error) {
	r := schemas.Recipe{
		Language: Language, Lock: string(read(requirementsFile)), Pinning: schemas.PinLock, DepsFrom: "suite", Report: ReportFormat,
		Test: []schemas.Command{{Argv: []string{testerPython, "-m", "pytest", schemas.SuiteFolder}}},
	}
	r.Toolchain = newest(available, Language)
	if semver.Compare("v"+r.Toolchain.Version, oldestPython) < 0 {
		return r, fmt.Errorf("the suite needs Python %s or newer, which is not among the toolchains", oldestPython[1:])
	}
	uv := newest(available, installer)
	if uv.Version == "" {
		return r, errors.New("uv, which installs Python packages, is not among the toolchains")
	}
	r.Tools = []schemas.Toolchain{uv}
	return r, nil
}

// newest is the newest release of a toolchain, without pre-releases.
func newest(available []lang.ToolchainRelease, name string) schemas.Toolchain {
	out := schemas.Toolchain{Name: name}
	for _, a := range available {
		v := "v" + a.Version
		if a.Name == name && semver.IsValid(v) && semver.Prerelease(v) == "" && (out.Version == "" || semver.Compare(v, "v"+out.Version) > 0) {
			out.Version = a.Version
		}
	}
	return out
}

// JudgePath is where the image of a service's judge has the tester's environment, and JudgePython
// its interpreter.
const (
	JudgePath   = "/opt/benchmint-tester"
	JudgePython = JudgePath + "/venv/bin/python"
)

// Wheel is one package of the tester's environment. All are pure Python.
type Wheel struct {
	Name, Version, SHA256 string
	// Marker is the condition of PEP 508 that it is installed on, "" for always.
	Marker string
}

var pinned = lazyregexp.New(`(?m)^([A-Za-z0-9._-]+)==([A-Za-z0-9._+!-]+)(?: *; *([^\\\n]*[^\\\n ]))? *\\\n +--hash=sha256:([0-9a-f]{64})$`)

// Wheels are the packages of the suite's requirements.txt, by name.
func Wheels() []Wheel {
	var out []Wheel
	for _, m := range pinned.FindAllStringSubmatch(string(read(requirementsFile)), -1) {
		out = append(out, Wheel{Name: m[1], Version: m[2], Marker: strings.TrimSpace(m[3]), SHA256: m[4]})
	}
	return out
}
