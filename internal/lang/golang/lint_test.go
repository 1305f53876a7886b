package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// TestLints: each module with tests is vetted and checked in its folder, with its tags.
func TestLints(t *testing.T) {
	t.Parallel()
	r := schemas.Recipe{Toolchain: schemas.Toolchain{Name: "go", Version: "1.22.0"}, Test: []schemas.Command{
		{Argv: []string{"go", "test", "-tags", "full", "./..."}, Dir: "sub"}, {Argv: []string{"go", "test", "-mod=mod", "./..."}},
	}}
	var got []string
	for _, run := range (Language{}).Lints(r, nil, []string{"a.go"}) {
		got = append(got, run.Tool+" in "+run.Command.Dir+": "+strings.Join(run.Command.Argv, " "))
	}
	want := []string{
		"go vet in sub: /opt/toolchains/go-1.22.0/bin/go vet -tags full ./...",
		`staticcheck in sub: sh -c exec "$@" >"$0" /tmp/.benchmint-lint /run/benchmint/staticcheck -f json -tags full ./...`,
		"go vet in : /opt/toolchains/go-1.22.0/bin/go vet -mod=mod ./...",
		`staticcheck in : sh -c exec "$@" >"$0" /tmp/.benchmint-lint /run/benchmint/staticcheck -f json ./...`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if runs := (Language{}).Lints(r, nil, nil); runs != nil {
		t.Errorf("for no file: %v", runs)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	run := func(tool, dir string) lang.LintRun {
		out := lang.LintRun{Tool: tool}
		out.Command.Dir = dir
		return out
	}
	for _, tc := range []struct {
		name   string
		run    lang.LintRun
		report string
		code   int
		want   []lang.Finding
		fault  string
	}{
		{"vet", run(vet, "sub"), "# example.com/m\n./a.go:3:9: Printf format %d has arg \"x\" of wrong type string\nvet: b.go:500:27: undefined: x\n", 1, []lang.Finding{
			{Tool: vet, Path: "sub/a.go", Line: 3, Column: 9, Rule: "vet", Message: `Printf format %d has arg "x" of wrong type string`},
			{Tool: vet, Path: "sub/b.go", Line: 500, Column: 27, Rule: "vet", Message: "undefined: x"},
		}, ""},
		{"vet_is_quiet", run(vet, ""), "", 0, nil, ""},
		{"vet_does_not_start", run(vet, ""), "go: errors parsing go.mod:\ngo.mod:3: unknown directive: x\n", 1, nil, "ended with code 1: go.mod:3: unknown directive: x"},
		{"staticcheck", run(staticcheck, ""), `{"code":"U1000","severity":"error","location":{"file":"/testbed/mux.go","line":307,"column":18},"end":{},"message":"func walk is unused"}` + "\n" +
			`{"code":"compile","location":{"file":"","line":0,"column":0},"message":"# example.com/m\n./route.go:500:27: cannot use x\n"}` + "\n", 1, []lang.Finding{
			{Tool: staticcheck, Path: "mux.go", Line: 307, Column: 18, Rule: "U1000", Message: "func walk is unused"},
			{Tool: staticcheck, Path: "route.go", Line: 500, Column: 27, Rule: "compile", Message: "cannot use x"},
		}, ""},
		{"staticcheck_is_cut", run(staticcheck, ""), `{"code":"U1000",`, 2, nil, "ended with code 2: unexpected EOF"},
	} {
		got, err := Language{}.Findings(tc.run, lang.Output{Report: []byte(tc.report), Result: sandbox.Result{ExitCode: tc.code, Output: []byte(tc.report)}})
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
		if (err == nil) != (tc.fault == "") || err != nil && !strings.Contains(err.Error(), tc.fault) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.fault)
		}
	}
}
