package golang

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask/masktest"
	"github.com/benchmint/benchmint/schemas"
)

// describeService is a recipe of a service as its goldens show it.
func describeService(r schemas.Recipe, err error) string {
	var no *lang.Refusal
	if errors.As(err, &no) {
		return fmt.Sprintf("refused %s: %s\n", no.Reason, no.Detail)
	}
	if err != nil {
		return "error " + err.Error() + "\n"
	}
	var b strings.Builder
	s := r.Service
	fmt.Fprintf(&b, "toolchain %s system %v lock %t\n", r.Toolchain.Version, r.SystemPackages, r.Lock != "")
	for _, c := range r.Build {
		fmt.Fprintf(&b, "build %q in %q\n", c.Argv, c.Dir)
	}
	fmt.Fprintf(&b, "start %q in %q port %d\n", s.Start.Argv, s.Start.Dir, s.Port)
	for _, c := range s.Prepare {
		fmt.Fprintf(&b, "prepare %q\n", c.Argv)
	}
	fmt.Fprintf(&b, "database %q %d %q %q %q copied %t shifts %t\n", s.Database, s.DBPort, s.DBName, s.DBUser, s.DBPassword, s.Copied, s.Shifts)
	for _, n := range slices.Sorted(maps.Keys(s.Start.Env)) {
		fmt.Fprintf(&b, "env %s=%s\n", n, s.Start.Env[n])
	}
	for _, n := range slices.Sorted(maps.Keys(s.Files)) {
		fmt.Fprintf(&b, "file %s %q\n", n, s.Files[n])
	}
	for _, e := range r.Evidence {
		if e.Field != "service.environment" {
			fmt.Fprintf(&b, "evidence %s | %.60q | %s\n", e.Field, e.Value, e.Source)
		}
	}
	return b.String()
}

func TestServe(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/serve/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			archive, want, _ := strings.Cut(string(data), "-- want --\n")
			_, date, _ := strings.Cut(strings.SplitN(archive, "\n", 2)[0], ": ")
			framework := "net/http"
			for _, f := range []string{"gin", "chi"} {
				if strings.Contains(archive, "/"+f+"\"") || strings.Contains(archive, "/"+f+"/") {
					framework = f
				}
			}
			got := describeService(Language{}.Serve(project(t, date, fromTxtar([]byte(archive))), framework))
			if masktest.Updating() {
				if err := os.WriteFile(file, []byte(archive+"-- want --\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The dependencies of a service are those of its module, with tests or without.
func TestServeResolves(t *testing.T) {
	t.Parallel()
	m := memory{
		"go.mod":  "module m\n\ngo 1.21\n\nrequire github.com/gin-gonic/gin v1.9.0\n",
		"main.go": "package main\n\nimport \"github.com/gin-gonic/gin\"\n\nfunc main() { gin.New().Run(\":9\") }\n",
	}
	p := project(t, "2024-03-01", m)
	r, err := Language{}.Serve(p, "gin")
	if err != nil {
		t.Fatal(err)
	}
	if r.Lock != "" {
		t.Fatal("a lock without go.sum")
	}
	step, err := Language{}.Resolve(p, r)
	if err != nil || step == nil {
		t.Fatalf("step %v, err %v", step, err)
	}
	if !slices.ContainsFunc(step.Commands, func(c schemas.Command) bool { return slices.Contains(c.Argv, "download") }) {
		t.Errorf("nothing is downloaded: %v", step.Commands)
	}
}

// What strangers write must not end the program.
func TestServeHostile(t *testing.T) {
	t.Parallel()
	for i, text := range []string{
		"", "package main", "package main\nfunc main() {", "package main\nimport \"m\"\nimport \"github.com/gin-gonic/gin\"\nfunc main() { f(\"\") }\nvar x = cobra.Command{Use: 1, Run}\n",
		"\x00\xff", "package main\nimport _ \"github.com/gin-gonic/gin\"\nfunc main() { os.Getenv(\"\"); viper.Get(\"\"); r.Run(\":99999999999999999999\") }\n",
	} {
		m := memory{"go.mod": "module m\n\ngo 1.21\n", "main.go": text, "a/main.go": text, "config.yml": text, "docker-compose.yml": text, ".env": text, "migrations/1.sql": text, "Dockerfile": "CMD\nCMD []\nCMD [\"\"]\n ENV\n"}
		for _, f := range []string{"gin", "chi", "net/http", "echo"} {
			if r, err := (Language{}).Serve(project(t, "2024-03-01", m), f); err == nil && r.Service == nil {
				t.Errorf("text %d: neither a service nor an error", i)
			}
		}
	}
}
