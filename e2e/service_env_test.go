package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

// ownDockerfile is how a solver may build the service of the sample, as root and in a folder of
// his own.
const ownDockerfile = `FROM @IMAGE@
WORKDIR /app
COPY requirements.txt .
RUN /opt/toolchains/python-@PYTHON@/bin/python3 -m venv /venv && /venv/bin/pip install -r requirements.txt
COPY . .
CMD ["/venv/bin/flask", "--app", "app", "run", "--host", "0.0.0.0", "--port", "5000"]
`

// TestServiceEnv: the environment variant of a service is proved with a Dockerfile of ours, and
// answers are told apart by how far the service of their own Dockerfile comes.
func TestServiceEnv(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds images")
	}
	b := &bench{kind: "docker", env: needs(t, "docker"), dir: t.TempDir()}
	history, err := os.ReadFile("../cmd/benchmint/testdata/shelf-flask.txtar")
	if err != nil {
		t.Fatal(err)
	}
	repo := gitrepotest.New(t, string(history))
	settings := []string{"--set", "kinds=service", "--set", "service.env=true", "--sandbox", "docker", "--store", "store", "--output", "out"}
	// Both variants of one group; the proof of the plain one is the script's of cmd/benchmint.
	said := b.must(t, append([]string{"run", "acme/shelf=" + repo, "--only", "c" + gitrepotest.Git(t, repo, "rev-parse", "--short=12", "HEAD") + ".books.service.env"}, settings...)...)
	if !strings.Contains(said, "1 described") {
		t.Fatalf("no task:\n%s", tail(said))
	}
	b.must(t, "check", "out")
	d := b.read(t, "out")
	row := d.Rows[0]
	if len(row.PassToPass) != 0 || row.Benchmint.Service.BaseImage == "" || !strings.Contains(row.ProblemStatement, "FROM "+row.Benchmint.Service.BaseImage) {
		t.Errorf("PASS_TO_PASS %v, base image %q, statement:\n%s", row.PassToPass, row.Benchmint.Service.BaseImage, row.ProblemStatement)
	}

	dockerfile := strings.NewReplacer("@IMAGE@", row.Benchmint.Service.BaseImage, "@PYTHON@", row.Benchmint.Toolchain.Version).Replace(ownDockerfile)
	handlers := regexp.MustCompile(`(?ms)^diff --git a/app\.py .*?(?:^diff --git |\z)`).FindString(row.Patch)
	handlers = strings.TrimSuffix(handlers, "diff --git ")
	answers := []struct{ name, patch, stages, errors string }{
		{"his own", handlers + added("Dockerfile", dockerfile), "S1 100.0 % (1 of 1 start), S2 100.0 % of these", ""},
		{"handlers alone", handlers, "S1 0.0 % (0 of 1 start), S2 0.0 % of these", "path_missing"},
		{"dockerfile alone", added("Dockerfile", dockerfile), "S1 100.0 % (1 of 1 start), S2 0.0 % of these", "logic"},
		{"another image", handlers + added("Dockerfile", "FROM python:3.12\n"), "S1 0.0 % (0 of 1 start), S2 0.0 % of these", "other"},
		{"no such package", handlers + added("Dockerfile", strings.ReplaceAll(dockerfile, "-r requirements.txt", "flask==999.1")), "S1 0.0 % (0 of 1 start), S2 0.0 % of these", "dependency_missing"},
	}
	var lines strings.Builder
	for _, a := range answers {
		line, err := json.Marshal(map[string]string{"instance_id": row.InstanceID, "model_name_or_path": a.name, "model_patch": a.patch})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	if err := os.WriteFile(filepath.Join(b.dir, "answers.jsonl"), []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	said = b.must(t, "eval", "out", "answers.jsonl", "--gold")
	for _, a := range append(answers, struct{ name, patch, stages, errors string }{name: "gold", stages: "S1 100.0 % (1 of 1 start), S2 100.0 % of these"}) {
		wants := []string{"service  " + a.name + ": " + a.stages + ", "}
		if a.errors != "" {
			wants = append(wants, "; errors: "+a.errors+" 1\n")
		}
		for _, want := range wants {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in\n%s", a.name, want, tail(said))
			}
		}
	}
}

// added is a patch that adds a file.
func added(name, text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return "diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1," + strconv.Itoa(len(lines)) + " @@\n+" + strings.Join(lines, "\n+") + "\n"
}
