package python

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
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/tree"
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
	fmt.Fprintf(&b, "toolchain %s system %v pinning %s\n", r.Toolchain.Version, r.SystemPackages, r.PinDate)
	for _, l := range r.Requirements {
		fmt.Fprintf(&b, "require %s\n", l)
	}
	fmt.Fprintf(&b, "start %q in %q port %d\n", s.Start.Argv, s.Start.Dir, s.Port)
	for _, c := range s.Prepare {
		fmt.Fprintf(&b, "prepare %q in %q\n", c.Argv, c.Dir)
	}
	fmt.Fprintf(&b, "database %q %d %q %q %q copied %t shifts %t\n", s.Database, s.DBPort, s.DBName, s.DBUser, s.DBPassword, s.Copied, s.Shifts)
	if s.Login != nil {
		fmt.Fprintf(&b, "login %s %s\n", s.Login.User, s.Login.Password)
	}
	for _, n := range slices.Sorted(maps.Keys(s.Start.Env)) {
		fmt.Fprintf(&b, "env %s=%s\n", n, s.Start.Env[n])
	}
	for _, n := range slices.Sorted(maps.Keys(s.Files)) {
		fmt.Fprintf(&b, "file %s %q\n", n, s.Files[n])
	}
	for _, e := range r.Evidence {
		if e.Field != "requirements" && e.Field != "service.environment" {
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
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := projectOf(t, string(data))
			framework := routes.Gate(p.Solution, Name).Framework
			if framework == "" {
				framework = flask
			}
			got := describeService(Language{}.Serve(p, framework))
			archive, want, _ := strings.Cut(string(data), "-- want --\n")
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

func TestServeOtherFramework(t *testing.T) {
	t.Parallel()
	_, err := Language{}.Serve(projectOf(t, "date: 2024-01-01\n-- main.py --\n"), "Tornado")
	var no *lang.Refusal
	if !errors.As(err, &no) || no.Reason != schemas.NoFramework {
		t.Errorf("got %v", err)
	}
}

// What strangers write must not end the program: broken sources, loops of classes and imports.
func TestServeHostile(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "app = FastAPI(", "class A(A):\n  X: str\nclass BaseSettings(BaseSettings):\n\n", "from " + strings.Repeat(".", 500) + " import *\napp = FastAPI()",
		"def " + strings.Repeat("(", 1000) + "\n app = FastAPI()\n", strings.Repeat("environ['", 5000), "app = FastAPI()\nimport main, main.main\nfrom . import main\n\"main.main.main\"\x00\xff",
	}
	for i, text := range texts {
		var entries []tree.Entry
		for _, name := range []string{"main.py", "a/main.py", "requirements.txt", "Pipfile.lock", "docker-compose.yml", ".env", "Dockerfile", "alembic.ini", "README.md"} {
			entries = append(entries, tree.Entry{Path: name, Mode: "100644", Data: []byte(text)})
		}
		tr, err := tree.New(entries)
		if err != nil {
			t.Fatal(err)
		}
		p := lang.Project{Name: "o/n", Base: tr, Solution: tr, Date: day(t, "2024-01-01"), Available: available(t)}
		for f := range rules {
			if r, err := (Language{}).Serve(p, f); err == nil && r.Service == nil {
				t.Errorf("text %d: neither a service nor an error", i)
			}
		}
	}
}

// Pins that no longer build are replaced by the nearest that does, in any form of line.
func TestBuilt(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"markupsafe==1.0":                         "markupsafe==1.1.1",
		"MarkupSafe==1.1.1":                       "MarkupSafe==1.1.1",
		"markupsafe":                              "markupsafe",
		"-c psycopg2==2.8.3":                      "-c psycopg2-binary==2.8.3",
		"psycopg2==2.6.2 ; python_version >= '3'": "psycopg2-binary==2.8.6 ; python_version >= '3'",
		"psycopg2>=2.7":                           "psycopg2-binary>=2.7",
		"bcrypt==3.1.3":                           "bcrypt==3.1.7",
		"bcrypt==4.0.1":                           "bcrypt==4.0.1",
		"psycopg2-binary==2.9.9":                  "psycopg2-binary==2.9.9",
	} {
		if got := built([]requirement{{line, "f:1"}})[0].line; got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
