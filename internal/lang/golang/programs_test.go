package golang

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// madeOf is what Compile collects.
func madeOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCompile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		argv []string
		want string
	}{
		"plain":         {[]string{"go", "test", "-json", "./..."}, "go test -exec=" + keepPath + " -json ./..."},
		"apart":         {[]string{"go", "test", "-exec=" + apartPath, "./..."}, "go test -exec=" + keepPath + " ./..."},
		"its_own_exec":  {[]string{"go", "test", "-exec=qemu", "./..."}, ""},
		"not_go_test":   {[]string{"make", "check"}, ""},
		"copied_canary": {[]string{"sh", "-c", copyCanaries, "go", "test", "."}, "sh -c " + copyCanaries + " go test -exec=" + keepPath + " ."},
	} {
		step, ok := Language{}.Compile(schemas.Recipe{}, recipe.TestRun{Command: schemas.Command{Argv: tc.argv}})
		if ok != (tc.want != "") {
			t.Errorf("%s: %v", name, ok)
		} else if ok && !strings.HasSuffix(strings.Join(step.Commands[0].Argv, " "), programsPath+" "+tc.want) {
			t.Errorf("%s: %q", name, step.Commands[0].Argv)
		}
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	said := ev("start", "", "") + "\n" + ev("output", "", keptLine+`2\n`) + "\n" + `{"Action":"output","Package":"q","Output":"` + keptLine + `1\n"}` + "\n" + `{"Action":"fail","Package":"broken"}` + "\nFAIL\tbroken [build failed]\n"
	files := map[string]string{
		"said": said, "code": "1\n", "variables": "A=1\x00PATH=/bin\x00",
		"1/argv": "/testbed/q\x00/opt/env/tests/1/program/q.test\x00-test.v=test2json\x00", "1/variables": "A=1\x00PATH=/go/bin:/bin\x00_=x\x00PWD=/else\x00",
		"2/argv": "/testbed/p\x00/opt/env/tests/2/program/p.test\x00-test.run=a b\x00", "2/variables": "A=1\x00PATH=/bin\x00GOROOT=/go\x00",
	}
	recipeOf := schemas.Recipe{Toolchain: schemas.Toolchain{Name: "go", Version: "1.26.0"}}
	run := recipe.TestRun{Command: schemas.Command{Env: map[string]string{"GOFLAGS": "-mod=mod"}}, Inputs: []sandbox.File{{Path: apartPath}, {Path: canaryPath + "/1_test.go"}}}
	runs, code, err := Language{}.Programs(recipeOf, run, madeOf(t, files))
	if err != nil || code != 1 {
		t.Fatal(code, err)
	}
	want := []schemas.Command{
		{Argv: []string{apartPath, "/opt/env/tests/1/program/q.test", "-test.v=test2json"}, Dir: "/testbed/q", Env: map[string]string{"GOFLAGS": "-mod=mod", "PATH": "/go/bin:/bin", "PWD": "/testbed/q"}},
		{Argv: []string{apartPath, "/opt/env/tests/2/program/p.test", "-test.run=a b"}, Dir: "/testbed/p", Env: map[string]string{"GOFLAGS": "-mod=mod", "GOROOT": "/go", "PWD": "/testbed/p"}},
	}
	for i, r := range runs {
		if diff := cmp.Diff(want[i], r.Command); diff != "" || len(r.Inputs) != 1 {
			t.Errorf("program %d, %d inputs: %s", i, len(r.Inputs), diff)
		}
	}
	conversion, err := Language{}.Convert(recipeOf, madeOf(t, files), []sandbox.Result{{End: sandbox.Exited, ExitCode: 2, Output: []byte("no end")}, {End: sandbox.TimedOut, Output: []byte("x\n")}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range conversion.Inputs {
		got[strings.TrimPrefix(f.Path, saidPath+"/")] = string(f.Data)
	}
	if diff := cmp.Diff(map[string]string{
		"build": `{"Action":"fail","Package":"broken"}` + "\nFAIL\tbroken [build failed]\n", "000000.package": "q", "000000.said": "no end\n\x16FAIL\tq\t0.000s\n", "000000.end": `{"Action":"fail","Package":"q"}` + "\n",
		"000001.package": "p", "000001.said": "x\n", "000001.end": "",
	}, got); diff != "" {
		t.Error(diff)
	}
	delete(files, "2/argv")
	files["said"] = "nothing of a program"
	if _, _, err := (Language{}).Programs(recipeOf, run, madeOf(t, files)); err == nil {
		t.Error("a program of no package")
	}
	if _, _, err := (Language{}).Programs(recipeOf, run, nil); err == nil {
		t.Error("a build that left nothing")
	}
}
