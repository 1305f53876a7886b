package deploy

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"Dockerfile": true, "build/Dockerfile.dev": true, "Containerfile": true, "docker-compose.yml": true, "compose.override.yaml": true,
		".dockerignore": true, "backend/scripts/entrypoint.sh": true, "docker-entrypoint.sh": true, "start.sh": true, "prestart.sh": true,
		"start-reload.sh": true, "run.sh": true, "Procfile": true, "app.dockerfile": true,
		"requirements.txt": false, "go.mod": false, "main.go": false, "compose.py": false, "start.py": false, "docs/compose.md": false,
		"runner.sh": false, "restart.go": false, "entrypoint.py": false, "migrations/run.sql": false, "poetry.lock": false, "test.sh": false,
	} {
		if got := Environment(p); got != want {
			t.Errorf("Environment(%q) = %v, want %v", p, got, want)
		}
	}
}

func sample() schemas.Recipe {
	return schemas.Recipe{
		Language: "python", Toolchain: schemas.Toolchain{Name: "python", Version: "3.11.7"}, Tools: []schemas.Toolchain{{Name: "uv", Version: "0.1"}},
		SystemPackages: []string{clock.Package, "postgresql"}, Variables: map[string]string{"SECRET_KEY": `a "quoted" $word`},
		Build:   []schemas.Command{{Argv: []string{"make", "assets"}}},
		Service: &schemas.Service{Port: 8000, Start: schemas.Command{Argv: []string{"flask", "run"}}, Database: schemas.DatabasePostgres, Shifts: true},
	}
}

// TestSolution: the Dockerfile of a solution is one that Pin takes, which copies what lies beside
// it and starts the service.
func TestSolution(t *testing.T) {
	t.Parallel()
	r := sample()
	setup := recipe.Step{
		Files:    []sandbox.File{{Path: sandbox.EnvPath + "/std_test.go", Data: []byte("flask==3.0\n")}},
		Commands: []schemas.Command{{Argv: []string{"uv", "pip", "sync", sandbox.EnvPath + "/lock.txt"}}},
		Caches:   map[string]string{"uv": "/tmp/uv"},
	}
	files := Solution(r, setup)
	raw, err := Encode(files)
	if err != nil {
		t.Fatal(err)
	}
	if files, err = Decode(raw); err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v; want the Dockerfile and the lock", len(files), err)
	}
	if files[0].Path != Folder+"/00" {
		t.Errorf("a file of the setup is %s: by its own name it may be taken for a test", files[0].Path)
	}
	text := files[1].Text
	pinned, err := Pin([]byte(text), Image(r), "sha256:0123")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{
		"FROM sha256:0123\n", "COPY --chown=61000:61000 " + files[0].Path + " /opt/env/std_test.go\n", "uv pip sync /opt/env/lock.txt && rm -rf /tmp/uv\n",
		"COPY --chown=61000:61000 . /testbed\n", "make assets", "EXPOSE 8000\n", `ENV SECRET_KEY="a \"quoted\" \$word"` + "\n", `"flask","run"]`,
	} {
		if !strings.Contains(string(pinned), want) {
			t.Errorf("%q is not in\n%s", want, pinned)
		}
	}
	if _, err := parser.Parse(strings.NewReader(string(pinned))); err != nil {
		t.Error(err)
	}
}

// TestRecipe: the environment variant keeps the base image and what answers are asked by, and
// nothing that says how the service is installed.
func TestRecipe(t *testing.T) {
	t.Parallel()
	r := sample()
	got := Recipe(r, Image(r))
	want := r
	want.SystemPackages, want.Build, want.Variables = []string{"postgresql"}, nil, nil
	want.Service = &schemas.Service{Port: 8000, Database: schemas.DatabasePostgres, Image: Image(r)}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r.Service.Image != "" {
		t.Error("the recipe of the plain task was changed")
	}
	if !Named(Image(r)) {
		t.Errorf("%s is not one of our names", Image(r))
	}
	if !got.Deployed() || Image(got) != Image(r) {
		t.Errorf("its image is %s, want %s", Image(got), Image(r))
	}
}

func TestPin(t *testing.T) {
	t.Parallel()
	const image, id = "benchmint/base:ab12", "sha256:ffff"
	const added = ": it adds nothing but files of the project, by plain names; what is fetched comes by commands from the package indexes"
	for _, tt := range []struct{ name, text, want, refused string }{
		{"plain", "FROM benchmint/base:ab12\nRUN true\n", "FROM sha256:ffff\nRUN true\n", ""},
		{"stages", "FROM benchmint/base:ab12 AS build\nRUN make\nFROM benchmint/base:ab12\nCOPY --from=build /a /a\nCOPY --from=0 /b /b\n",
			"FROM sha256:ffff AS build\nRUN make\nFROM sha256:ffff\nCOPY --from=build /a /a\nCOPY --from=0 /b /b\n", ""},
		{"stage_of_stage", "FROM benchmint/base:ab12 AS Build\nFROM build\n", "FROM sha256:ffff AS Build\nFROM build\n", ""},
		{"local_add", "FROM benchmint/base:ab12\nADD --chown=1:1 app.tar.gz src/*.py $HOME/app/\n", "FROM sha256:ffff\nADD --chown=1:1 app.tar.gz src/*.py $HOME/app/\n", ""},
		{"empty", "\n", "", "Dockerfile:1: there is no such file in the root of the project, or nothing in it"},
		{"other_image", "FROM benchmint/base:ab12 AS a\nFROM python:3.11\n", "", "Dockerfile:2: FROM python:3.11: there is no image but benchmint/base:ab12"},
		{"argument", "ARG X=python:3.11\nFROM $X\n", "", "Dockerfile:2: FROM $X: there is no image but benchmint/base:ab12"},
		{"longer_tag", "FROM benchmint/base:ab123\n", "", "Dockerfile:1: FROM benchmint/base:ab123: there is no image but benchmint/base:ab12"},
		{"copy_from_image", "FROM benchmint/base:ab12\nCOPY --from=nginx /a /a\n", "", "Dockerfile:2: COPY --from=nginx: no stage has this name"},
		{"remote_add", "FROM benchmint/base:ab12\nADD https://example.org/x /x\n", "", "Dockerfile:2: ADD " + "https://example.org/x" + added},
		{"remote_after_local", "FROM benchmint/base:ab12\nADD go.mod https://example.org/x /x/\n", "", "Dockerfile:2: ADD " + "https://example.org/x" + added},
		{"quoted_add", "FROM benchmint/base:ab12\nADD \"http://example.org/x\" /x\n", "", "Dockerfile:2: ADD " + "\"http://example.org/x\"" + added},
		{"quoted_in_part", "FROM benchmint/base:ab12\nADD ht't'p://example.org/x /x\n", "", "Dockerfile:2: ADD " + "ht't'p://example.org/x" + added},
		{"escaped_add", "FROM benchmint/base:ab12\nADD ht\\tp://example.org/x /x\n", "", "Dockerfile:2: ADD " + "ht\\tp://example.org/x" + added},
		{"variable_add", "FROM benchmint/base:ab12\nARG U=https://example.org/x\nADD $U /x\n", "", "Dockerfile:3: ADD " + "$U" + added},
		{"scheme_of_variable", "FROM benchmint/base:ab12\nADD ${S:-http}://example.org/x /x\n", "", "Dockerfile:2: ADD " + "${S:-http}://example.org/x" + added},
		{"git_add", "FROM benchmint/base:ab12\nADD git@example.org:x/y.git /x\n", "", "Dockerfile:2: ADD " + "git@example.org:x/y.git" + added},
		{"json_add", "FROM benchmint/base:ab12\nADD [\"'http://example.org/x'\", \"/x\"]\n", "", "Dockerfile:2: ADD " + "'http://example.org/x'" + added},
		{"json_escapes", "FROM benchmint/base:ab12\nADD [\"\\u0068ttp://example.org/x\", \"/x\"]\n", "", "Dockerfile:2: ADD " + "http://example.org/x" + added},
		{"continued_add", "FROM benchmint/base:ab12\nADD ht\\\n# not a word\ntp://example.org/x /x\n", "", "Dockerfile:2: ADD " + "http://example.org/x" + added},
		{"other_escape", "# escape=`\nFROM benchmint/base:ab12\nADD ht`tp://example.org/x /x\n", "", "Dockerfile:1: # escape=`: lines are continued with \\ alone"},
		{"heredoc_add", "FROM benchmint/base:ab12\nRUN <<CMD\nADD http://example.org/x /x\nCMD\n", "", "Dockerfile:2: RUN <<CMD: the engine's builder knows no heredocs"},
		{"heredoc_from", "FROM benchmint/base:ab12\nRUN cat <<-'CMD'\nFROM other/image\nCMD\n", "", "Dockerfile:2: RUN <<CMD: the engine's builder knows no heredocs"},
		{"heredoc_copy", "FROM benchmint/base:ab12\nCOPY <<EOF /x\ntext\nEOF\n", "", "Dockerfile:2: COPY <<EOF: the engine's builder knows no heredocs"},
		{"mount", "FROM benchmint/base:ab12\nRUN --mount=from=nginx,target=/x true\n", "", "Dockerfile:2: RUN --mount=from=nginx,target=/x: the engine's builder knows no options of RUN"},
		{"own_syntax", "# syntax=docker/dockerfile:1.7-labs\nFROM benchmint/base:ab12\n", "FROM sha256:ffff\n", ""},
		{"syntax", "# syntax=docker/dockerfile.evil:1\nFROM benchmint/base:ab12\n", "", "Dockerfile:1: # syntax=docker/dockerfile.evil:1: no other builder is fetched"},
		{"copy_from_large_number", "FROM benchmint/base:ab12\nCOPY --from=99999999999999999999 /a /a\n", "", "Dockerfile:2: COPY --from=99999999999999999999: no stage has this name"},
		{"copy_from_twice", "FROM benchmint/base:ab12 AS a\nCOPY --from=a --from=nginx /a /a\n", "", "Dockerfile:2: COPY --from=nginx: no stage has this name"},
		{"platform", "FROM --platform=linux/arm64 benchmint/base:ab12\n", "FROM sha256:ffff\n", ""},
		{"mark_in_second_line", "\n\ufeffFROM other/image\nFROM benchmint/base:ab12\n", "", `Dockerfile:2: "\ufeffFROM" is not an instruction`},
		{"mark_in_first_line", "\ufeffFROM benchmint/base:ab12\n", "FROM sha256:ffff\n", ""},
		// It goes on, where it is written without what follows the backslash.
		{"backslash_and_blank", "FROM benchmint/base:ab12\nRUN true \\\v\nADD app.tar.gz /x\n", "", "Dockerfile:2: the line ends with a backslash, and is not continued"},
		// The engine's parser knows no # check, and ends the directives there.
		{"comments", "# check=skip=all\n\nFROM \\\n benchmint/base:ab12\nRUN a && \\\n  # why\n\n  b\n", "FROM sha256:ffff\nRUN a &&   b\n", ""},
		{"onbuild", "FROM benchmint/base:ab12\nONBUILD RUN true\n", "", "Dockerfile:2: ONBUILD has no use in the image of a service"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Pin([]byte(tt.text), image, id)
			if tt.refused != "" {
				if !errors.As(err, new(*Refused)) || err.Error() != tt.refused {
					t.Errorf("%v, want %s", err, tt.refused)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
