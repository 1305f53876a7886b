package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		report, log string
		files       map[string]string
		want        results
	}{
		"gotest": {
			report: "gotest",
			log: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- PASS: TestA (0.00s)\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p"}
`,
			want: results{"p::TestA": passed, "p::TestB": failed},
		},
		"cargo": {
			report: "cargo",
			log: "     Running unittests src/lib.rs (target/debug/deps/a-0123)\n\nrunning 3 tests\ntest a::one ... ok\ntest two - should panic ... FAILED\ntest three ... ignored\n" +
				"     Running tests/it.rs (target/debug/deps/it-4567)\ntest two ... ok\n   Doc-tests a\ntest src/lib.rs - f (line 3) ... ok\n",
			want: results{"src/lib.rs a::one": passed, "src/lib.rs two": failed, "tests/it.rs two": passed, "a src/lib.rs - f (example 1)": passed},
		},
		"gotest_excused": {
			report: "gotest",
			log: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"masked: T.F\\n"}
{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"run","Package":"p","Test":"TestA/two"}
{"Action":"pass","Package":"p","Test":"TestA/two"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"masked: g\\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\\n"}
{"Action":"fail","Package":"p"}
`,
			want: results{"p::TestA": excused, "p::TestA/one": excused, "p::TestA/two": passed, "p::TestB": failed},
		},
		"cargo_excused": {
			report: "cargo",
			log: "     Running unittests src/lib.rs (target/debug/deps/a-0123)\n\nrunning 1 test\ntest one ... ok\n\nnot implemented: masked: f\ntest two - should panic ... ok\n\ntest two ... ok\n" +
				"not implemented: masked: g\ntest three ... FAILED\nnot implemented: masked: h\n   Doc-tests a\ntest src/lib.rs - f (line 3) ... ok\n" +
				"test src/lib.rs - f (line 8) - compile ... ok\ntest src/lib.rs - f (line 9) - compile fail ... ok\ntest src/lib.rs - f (line 10) - compile ... FAILED\n",
			want: results{
				"src/lib.rs one": passed, "src/lib.rs two": excused, "src/lib.rs three": failed, "a src/lib.rs - f (example 1)": passed,
				"a src/lib.rs - f (example 2)": compiled, "a src/lib.rs - f (example 3)": compiled, "a src/lib.rs - f (example 4)": failed,
			},
		},
		"junit": {
			report: "junit=out/*.xml",
			files: map[string]string{
				"out/a.xml": `<testsuites><testsuite><testsuite><testcase classname="A" name="one"/></testsuite><testcase classname="A" name="two"><failure/></testcase></testsuite></testsuites>`,
				"out/b.xml": `<testsuite><testcase classname="B" name="one"><error/></testcase><testcase classname="B" name="two"><skipped/></testcase><testcase classname="A" name="two"/></testsuite>`,
				"c.xml":     `<testsuite><testcase classname="C" name="one"/></testsuite>`,
			},
			want: results{"A one": passed, "A two": failed, "B one": failed},
		},
		"tape": {
			report: "tap",
			log:    "TAP version 13\n# parses\nok 1 one\nnot ok 2 one\n  ---\n    expected: 1\n  ...\n# prints\nok 3 should be equal\n# later\nok 4 # SKIP\n\n1..4\n# tests 4\n# pass  2\n",
			want:   results{"parses": failed, "prints": passed},
		},
		"mocha":         {report: "tap", log: "1..2\nok 1 app inherits\nnot ok 2 app sends\n  boom\n# tests 2\n", want: results{"app inherits": passed, "app sends": failed}},
		"nothing_began": {report: "junit=out/*.xml", want: results{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			log := filepath.Join(dir, "log")
			if err := os.WriteFile(log, []byte(c.log), 0o644); err != nil {
				t.Fatal(err)
			}
			folder := fstest.MapFS{}
			for name, text := range c.files {
				folder[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if err := os.CopyFS(filepath.Join(dir, "tree"), folder); err != nil {
				t.Fatal(err)
			}
			got, err := (&bench{report: c.report}).read(filepath.Join(dir, "tree"), log)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestModuleOf(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"src/a/b.py": "a.b", "a/__init__.py": "a", "src/__init__.py": "", "a/__main__.py": "", "a-b/c.py": "", "a.pyi": "", "c.py": "c",
	} {
		if got := moduleOf(p); got != want {
			t.Errorf("moduleOf(%q) = %q, want %q", p, got, want)
		}
	}
}
