package golang

import (
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, log, rule, edit string }{
		{"buildvcs", "go: parsing $GOFLAGS: unknown flag -buildvcs\n", "flag_newer_than_go", "GOFLAGS without -buildvcs"},
		{"go_line", "go: go.mod requires go >= 1.22.1 (running go 1.21.13; GOTOOLCHAIN=local)\n", "newer_go_required", "go 1.22.12 instead of 1.21.13"},
		{"old_wording", "x.go:1: undefined: y\nnote: module requires Go 1.23\n", "newer_go_required", "go 1.23.12 instead of 1.21.13"},
		{"std_package", "a.go:4:2: package iter is not in std (/opt/toolchains/go-1.21.13/src/iter)\n", "newer_go_required", "go 1.22.12 instead of 1.21.13"},
		{"sums", "a.go:3:8: missing go.sum entry for module providing package x\n", "missing_go_sum_entry", "GOFLAGS with -mod=mod, lock resolved again"},
		{"header", "./a.go:6:11: fatal error: sqlite3.h: No such file or directory\n", "missing_c_header", "package libsqlite3-dev"},
		{"library", "/usr/bin/ld: cannot find -lpcap: No such file or directory\n", "missing_c_library", "package libpcap-dev"},
		{"pkg_config", "Package libgit2 was not found in the pkg-config search path.\n", "missing_pkg_config", "package libgit2-dev"},
		{"program", `cgo: exec: "pkg-config": executable file not found in $PATH` + "\n", "missing_program", "package pkg-config"},
		{"vendor", "go: inconsistent vendoring in /testbed:\n", "inconsistent_vendoring", "GOFLAGS with -mod=mod, lock resolved again"},
		{"embed", "ui/serve.go:15:12: pattern build/*: no matching files found\n", "nothing_to_embed", "an empty ui/build/index.html"},
		{"embed_folder", "main.go:9:12: pattern all:web/dist: no matching files found\n", "nothing_to_embed", "an empty web/dist/index.html"},
		{"embed_file", "docs.go:9:12: pattern swagger.json: no matching files found\n", "nothing_to_embed", "an empty swagger.json"},
		{"embed_templates", "a/b.go:9:12: pattern views/*.html: no matching files found\n", "nothing_to_embed", "an empty a/views/index.html"},
		{"embed_folders", "b.go:9:12: pattern views/*/*.html: no matching files found\n", "", ""},
		{"unknown_header", "fatal error: nowhere/known.h: No such file or directory\n", "", ""},
		{"plain_failure", "--- FAIL: TestX (0.00s)\n", "", ""},
	} {
		p := project(t, "2024-01-01", locked())
		r, err := Language{}.Infer(p)
		if err != nil {
			t.Fatal(err)
		}
		before := schemas.DigestOf(r)
		got, ok := Language{}.Repair(p, r, []byte("first line\n"+c.log))
		if schemas.DigestOf(r) != before {
			t.Errorf("%s: the recipe that was given is changed", c.name)
		}
		if c.rule == "" {
			if ok {
				t.Errorf("%s: repaired by %+v", c.name, got.Repairs)
			}
			continue
		}
		if !ok || len(got.Repairs) != 1 || got.Repairs[0].Rule != c.rule || got.Repairs[0].Edit != c.edit {
			t.Errorf("%s: %v %+v, want %s: %s", c.name, ok, got.Repairs, c.rule, c.edit)
			continue
		}
		if again, ok := (Language{}).Repair(p, got, []byte(c.log)); ok && again.Repairs[1].Edit == c.edit {
			t.Errorf("%s: the same edit is made twice", c.name)
		}
	}
}

func TestRepairMovesEverythingToTheNewGo(t *testing.T) {
	t.Parallel()
	p := project(t, "2024-01-01", locked())
	r, err := Language{}.Infer(p)
	if err != nil {
		t.Fatal(err)
	}
	r.Variables["WIDGET"] = "kept"
	got, ok := Language{}.Repair(p, r, []byte("requires go >= 1.23\n"))
	if !ok {
		t.Fatal("no repair")
	}
	if got.Toolchain.Version != "1.23.12" || got.Test[0].Argv[0] != "/opt/toolchains/go-1.23.12/bin/go" || got.Build[0].Argv[4] != got.Test[0].Argv[0] ||
		got.Variables["PATH"] != variables(got)["PATH"] || got.Variables["WIDGET"] != "kept" || r.Test[0].Argv[0] == got.Test[0].Argv[0] {
		t.Errorf("after the repair: %+v", got)
	}
}
