package formats

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The converters take only what the runner said, whatever a test printed or wrote.
func TestConvertPytest(t *testing.T) {
	t.Parallel()
	python := program(t, "python3")
	for _, tt := range []struct {
		name, report string
		want         string
	}{
		{"passes", `{"n":"x","i":0,"t":"boot"}
{"n":"x","i":1,"t":"listed","unit":"t.py","ids":["t.py::a b","t.py::c  d","t.py::e","t.py::f","t.py::g","t.py::h"]}
{"n":"x","i":2,"t":"begin","id":"t.py::a b"}
{"n":"x","i":3,"t":"phase","id":"t.py::a b","when":"setup","outcome":"passed"}
{"n":"x","i":4,"t":"phase","id":"t.py::a b","when":"call","outcome":"passed"}
{"n":"x","i":5,"t":"end","id":"t.py::a b"}
{"n":"x","i":6,"t":"begin","id":"t.py::c  d"}
{"n":"x","i":7,"t":"phase","id":"t.py::c  d","when":"call","outcome":"passed"}
{"n":"x","i":8,"t":"begin","id":"t.py::e"}
{"n":"x","i":9,"t":"phase","id":"t.py::e","when":"call","outcome":"passed"}
{"n":"x","i":10,"t":"phase","id":"t.py::e","when":"teardown","outcome":"failed"}
{"n":"x","i":11,"t":"phase","id":"t.py::f","when":"setup","outcome":"skipped"}
{"n":"x","i":12,"t":"phase","id":"t.py::g","when":"call","outcome":"passed","xfail":true}
{"n":"x","i":13,"t":"phase","id":"t.py::unlisted","when":"call","outcome":"passed"}
{"n":"x","i":14,"t":"unit","unit":"u.py","outcome":"failed"}
{"n":"x","i":15,"t":"finish","status":1}
{"n":"x","i":16,"t":"phase","id":"t.py::h","when":"call","outcome":"passed"}
`, "FAILED u.py\nPASSED t.py::a b\nFAILED t.py::e\nSKIPPED t.py::f\n"},
		{"ended_in_a_test", `{"n":"x","i":0,"t":"listed","unit":"t.py","ids":["t.py::a"]}
{"n":"x","i":1,"t":"begin","id":"t.py::a"}
{"n":"x","i":2,"t":"phase","id":"t.py::a","when":"call","outcome":"passed"}
`, "FAILED t.py::a\n"},
		{"written_by_another", `{"n":"x","i":0,"t":"listed","unit":"t.py","ids":["t.py::a"]}
{"n":"x","i":1,"t":"phase","id":"t.py::a","when":"call","outcome":"passed"}
{"n":"x","i":1,"t":"begin","id":"t.py::a"}
`, ""},
		{"noise", "PASSED t.py::a\n{\"n\":\"x\", broken\n", ""},
	} {
		dir := t.TempDir()
		report, script := filepath.Join(dir, "report"), filepath.Join(dir, "convert.py")
		for name, data := range map[string]string{report: tt.report, script: string(convertPytest)} {
			if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command(python, "-S", "-E", "-B", script, report, filepath.Join(dir, "none")).CombinedOutput()
		if d := cmp.Diff(tt.want, string(out)); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, d)
		}
	}
}

func TestConvertGo(t *testing.T) {
	t.Parallel()
	goTool := program(t, "go")
	dir := t.TempDir()
	source, built := filepath.Join(dir, "convert.go"), filepath.Join(dir, "convert")
	if err := os.WriteFile(source, convertGo, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(goTool, "build", "-o", built, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	event := func(action, test, output string) string {
		return `{"Time":"2024-01-01T00:00:00Z","Action":"` + action + `","Package":"p","Test":"` + test + `","Output":"` + output + `"}` + "\n"
	}
	for _, tt := range []struct{ name, log, want string }{
		{"all_ends", event("run", "TestA", "") + event("output", "TestA", `--- PASS: TestA (0.00s)\n`) + event("pass", "TestA", "") + event("run", "TestB", "") + event("fail", "TestB", "") +
			event("run", "TestC", "") + event("skip", "TestC", "") + event("output", "", `FAIL\n`) + event("fail", "", ""), "PASSED p::TestA\nFAILED p::TestB\nSKIPPED p::TestC\n"},
		{"said_by_a_test", event("run", "TestA", "") + event("pass", "TestZ", "") + event("fail", "TestA", "") + event("pass", "TestA", "") + event("output", "", `FAIL\n`) + event("fail", "", ""), "FAILED p::TestA\n"},
		{"left_with_0", event("run", "TestA", "") + event("pass", "TestA", "") + event("pass", "", ""), "FAILED p::TestA\n"},
		{"panicked", event("run", "TestA", "") + event("output", "TestA", `panic: x\n`) + event("fail", "", ""), "FAILED p::TestA\n"},
		{"end_behind_output", event("run", "TestA", "") + event("output", "TestA", `x--- SKIP: TestA (0.00s)\n`) + event("output", "", `PASS\n`) + event("pass", "", ""), "SKIPPED p::TestA\n"},
		{"text_before", "noise " + event("run", "TestA", "") + event("output", "TestA", `--- PASS: TestA (0.00s)\n`) + event("pass", "TestA", "") + event("output", "", `PASS\n`) + event("pass", "", ""), "PASSED p::TestA\n"},
		{"not_built_by_older_go", "# p\nx.go:1: error\nFAIL\tp [build failed]\n", "FAILED p\n"},
		{"nothing_of_the_runner", "PASSED p::TestA\n{}\n", ""},
		{"two_blanks", event("run", "TestA/a  b", "") + event("fail", "TestA/a  b", "") + event("output", "", `FAIL\n`) + event("fail", "", ""), ""},
	} {
		log := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(log, []byte(tt.log), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(built, log).CombinedOutput()
		if d := cmp.Diff(tt.want, string(out)); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, d)
		}
	}
}
