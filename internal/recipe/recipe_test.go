package recipe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

func sample() schemas.Recipe {
	return schemas.Recipe{
		Language:       "python",
		Toolchain:      schemas.Toolchain{Name: "python", Version: "3.12.1", Digest: "sha256:aa"},
		SystemPackages: []string{"less", "gcc"},
		Variables:      map[string]string{"TZ": "UTC", "SETUPTOOLS_SCM_PRETEND_VERSION": "1.2"},
		Requirements:   []string{"pytest"},
		Lock:           "pytest==8.0.0",
		Pinning:        schemas.PinDate,
		PinDate:        "2024-03-09",
		Setup:          []schemas.Command{{Argv: []string{"uv", "pip", "sync", "/run/benchmint/requirements.txt"}}},
		Build:          []schemas.Command{{Argv: []string{"uv", "pip", "install", "-e", "."}, Env: map[string]string{"A": "it's"}}},
		Test:           []schemas.Command{{Argv: []string{"pytest"}, Dir: "sub dir"}},
		Report:         "benchmint-pytest",
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	want := Key(sample(), "sha256:base")
	for _, tt := range []struct {
		name string
		same bool
		edit func(*schemas.Recipe)
	}{
		{"pretend_version", true, func(r *schemas.Recipe) { r.Variables["SETUPTOOLS_SCM_PRETEND_VERSION"] = "9" }},
		{"no_pretend_version", true, func(r *schemas.Recipe) { delete(r.Variables, "SETUPTOOLS_SCM_PRETEND_VERSION") }},
		{"pbr_version", true, func(r *schemas.Recipe) { r.Variables["PBR_VERSION"] = "9" }},
		{"bypass_of_another_tool", false, func(r *schemas.Recipe) { r.Variables["UV_DYNAMIC_VERSIONING_BYPASS"] = "9" }},
		{"order_of_packages", true, func(r *schemas.Recipe) { r.SystemPackages = []string{"gcc", "less"} }},
		{"date", true, func(r *schemas.Recipe) { r.PinDate = "2025-01-01" }},
		{"build_command", true, func(r *schemas.Recipe) { r.Build = nil }},
		{"test_command", true, func(r *schemas.Recipe) { r.Test = nil }},
		{"evidence_and_repairs", true, func(r *schemas.Recipe) { r.Evidence, r.Repairs = []schemas.Evidence{{}}, []schemas.Repair{{}} }},
		{"requirements_with_lock", true, func(r *schemas.Recipe) { r.Requirements = []string{"pytest>=7"} }},
		{"lock", false, func(r *schemas.Recipe) { r.Lock = "pytest==8.0.1" }},
		{"requirements_without_lock", false, func(r *schemas.Recipe) { r.Lock = "" }},
		{"toolchain", false, func(r *schemas.Recipe) { r.Toolchain.Digest = "sha256:bb" }},
		{"variable", false, func(r *schemas.Recipe) { r.Variables["TZ"] = "CET" }},
		{"package", false, func(r *schemas.Recipe) { r.SystemPackages = []string{"gcc"} }},
		{"setup", false, func(r *schemas.Recipe) { r.Setup = nil }},
	} {
		r := sample()
		tt.edit(&r)
		if got := Key(r, "sha256:base"); (got == want) != tt.same {
			t.Errorf("%s: same key is %v, want %v", tt.name, got == want, tt.same)
		}
	}
	if Key(sample(), "sha256:other") == want {
		t.Error("another base has the same key")
	}
}

func rendering() Rendering {
	r := sample()
	return Rendering{
		ID: "acme__widget-12", Recipe: r, SetupDir: "tasks/acme__widget-12/setup", Archive: "blobs/ab.tar.gz", Date: "2024-03-09T00:00:00Z",
		Setup: Step{
			Commands: r.Setup,
			Files:    []sandbox.File{{Path: "/run/benchmint/requirements.txt", Data: []byte("pytest==8.0.0\n")}, {Path: "/opt/env/modules/a/go.mod", Data: []byte("module a\n")}},
			Env:      map[string]string{"UV_OFFLINE": "0"},
			Caches:   map[string]string{"uv": "/home/tester/.cache/uv"},
		},
		Runs: []TestRun{{
			Command: schemas.Command{Argv: []string{"pytest", "-p", "benchmint_report", "tests/a b.py::test[x\ny]"}},
			Inputs:  []sandbox.File{{Path: "/run/benchmint/benchmint_report.py", Data: []byte("#\n")}},
			Report:  "/run/benchmint/report.jsonl",
		}},
		InputDir: "run",
	}
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	got := string(Dockerfile(rendering()))
	for _, want := range []string{
		"ARG BASE\nFROM ${BASE}\nARG SSL_CERT_FILE\n",
		"#   /opt/toolchains/python-3.12.1  sha256:aa\n",
		"apt-get install -y --no-install-recommends gcc less ",
		"COPY --chown=61000:61000 tasks/acme__widget-12/setup/00-requirements.txt /run/benchmint/requirements.txt\n",
		"USER root\nRUN chown -R 61000:61000 /opt/env/modules\nUSER 61000:61000\n",
		"RUN env SETUPTOOLS_SCM_PRETEND_VERSION=1.2 TZ=UTC UV_OFFLINE=0 uv pip sync /run/benchmint/requirements.txt && rm -rf /home/tester/.cache/uv\n",
		"ADD blobs/ab.tar.gz /testbed/\nUSER root\nRUN chown -R 61000:61000 /testbed\nUSER 61000:61000\n",
		`RUN env A='it'"'"'s' SETUPTOOLS_SCM_PRETEND_VERSION=1.2 TZ=UTC uv pip install -e .` + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	r := rendering()
	if r.Specification = "tasks/x/spec"; strings.Contains(got, "/specification") || !strings.HasSuffix(string(Dockerfile(r)), "\nCOPY tasks/x/spec /specification\n") {
		t.Errorf("the specification is not copied, or where there is none:\n%s", got)
	}
	for i, line := range strings.Split(strings.TrimSpace(got), "\n") {
		word, _, _ := strings.Cut(line, " ")
		switch word {
		case "", "#", "ARG", "FROM", "SHELL", "USER", "RUN", "ENV", "COPY", "ADD", "WORKDIR", "STOPSIGNAL":
		default:
			t.Errorf("line %d is no instruction: %q", i+1, line)
		}
	}
}

func TestRunScriptIsBash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.sh")
	if err := os.WriteFile(path, RunScript(rendering()), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`cp "$here"/run/00-00-benchmint_report.py /run/benchmint/benchmint_report.py`, "uv pip install -e . || exit 4", "report: '/run/benchmint/report.jsonl"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
	if strings.Contains(string(b), "(cd 'sub dir'") {
		t.Error("the recipe's bare test command is run although the language gave its own")
	}
}

// TestDeployScript: where the environment is the solver's, the script builds what he wrote.
func TestDeployScript(t *testing.T) {
	t.Parallel()
	r := rendering()
	r.ID, r.Recipe.Service = "acme__Widget-v1.books.service.env", &schemas.Service{Port: 8000, Image: "benchmint/base:ab12"}
	path := filepath.Join(t.TempDir(), "run.sh")
	script := RunScript(r)
	if err := os.WriteFile(path, script, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"docker build --quiet --tag acme__widget-v1.books.service.env . || exit 4", "--publish 127.0.0.1:8000:8000 ", "benchmint/base:ab12"} {
		if !strings.Contains(string(script), want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
	if strings.Contains(string(script), "uv pip install") {
		t.Error("the build of the recipe is run, which is the solver's")
	}
}

// Quote is judged by the shell itself.
func TestQuote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "a b", "it's", `"$x" \`, "new\nline 'q'", "*", "naïve", "a\r\nb\\n", "-n"} {
		out, err := exec.Command("bash", "-c", "printf '%s|' "+Quote(s)).Output()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s+"|", string(out)); d != "" {
			t.Errorf("Quote(%q) (-want +got):\n%s", s, d)
		}
	}
}
