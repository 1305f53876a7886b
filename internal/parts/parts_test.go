package parts_test

import (
	"testing"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/schemas"
)

func TestCommon(t *testing.T) {
	t.Parallel()
	for want, paths := range map[schemas.Part][]string{
		schemas.PartTest: {
			"tests/test_a.py", "tests/helpers.py", "tests/data/input.json", "tests/README.md", "tests/docs/page.rst", "tests/requirements.txt",
			"src/pkg/tests/unit.py", "pkg/a_test.go", "a_test.go", "pkg/testdata/x.go", "examples/a_test.go", "docs/conftest.py", "conftest.py",
			"testing/benchmark.py", "tests.py", "test.py", "app/tests.py", "test/helper.py", "src/test/java/A.java", "src/a.test.ts", "web/a.spec.jsx",
			"src/__snapshots__/page.snap", "pkg/golden/out.txt", "pkg/out.golden", "pkg/out.golden.json", "src/pkg/x.ambr", "report.approved.html",
			"tests/cassettes/a.yaml", "src/pkg/cassettes/a.yaml", "spec/data.json", "src/ATest.java", "test-requirements.txt", "requirements/tests.in",
			"requirements-dev.txt", "tox.ini", "pytest.ini", "lib/x_spec.rb", "tests/.hidden",
		},
		schemas.PartCode: {
			"latest.go", "contest/main.go", "attestation.py", "src/anyio/pytest_plugin.py", "src/structlog/testing.py", "django/test/client.py",
			"hooks/test/test.go", "numpy/testing/utils.py", "testing/fake.go", "src/anyio/abc/tasks.py", "pkg/noxfile.py", "pyproject.toml", "go.mod", "go.sum",
			"poetry.lock", "setup.py", "requirements.txt", "requirements/base.txt", "pkg/history.py", "pkg/changes.go", "news.py", "pkg/snapshots/manager.py",
			"pkg/templates/page.md", "src/pkg/data/.keep", "src/pkg/docs/render.py", "vendor/x/a_test.go", "vendor/x/README.md", "third_party/x/tests/a.py",
			"pkg/py.typed", "a.proto", "spec/openapi.go", "integration/client.py", "tools/gen.go", "protest.py", "testify.go", "src/testament/core.py",
			"src/pkg/management/commands/test.py", "lib/latest/index.js", "Contest.java", "newsletter/models.py", "docstring.py", "documents/model.py", "cicd.py",
		},
		schemas.PartDocs: {
			"docs/index.rst", "docs/conf.py", "docs/testing/index.rst", "README.md", "README", "README.rst.in", "CHANGES", "CHANGES.rst", "CHANGELOG-v2.md",
			"LICENSE", "LICENSE-MIT", "LICENSE.apache2", "newsfragments/12.feature", "changelog.d/12.md", "changes/12.bugfix.rst", "examples/demo.py",
			"_examples/main.go", "imgs/logo.png", "logo.png", "mkdocs.yml", ".readthedocs.yaml", "AUTHORS", "pkg/README.md", "docs/requirements.txt",
			"docs-requirements.txt", "requirements/docs.txt", "pkg/newsfragments/1.misc", ".changeset/brave-cats.md",
		},
		schemas.PartCI: {
			".github/workflows/tests.yml", ".travis.yml", ".gitlab-ci.yml", "Makefile", "noxfile.py", "tasks.py", ".pre-commit-config.yaml", ".coveragerc",
			"scripts/install", "scripts/test", "benchmarks/run.py", "tools/make_emoji.py", ".gitignore", "pkg/.gitignore", "requirements/typing.txt",
			".ci.gofmt.sh", ".claude/settings.json", "azure-pipelines.yaml",
		},
	} {
		for _, p := range paths {
			if got, rule := parts.Common(p); got != want {
				t.Errorf("%s is %s by %q, want %s", p, got, rule, want)
			} else if rule == "" {
				t.Errorf("%s has no rule", p)
			}
		}
	}
}

func TestCountsLeavesManifestsOut(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{"tests/a.json": true, "tox.ini": false, "requirements-dev.txt": false, "a_test.go": true, "a.go": false} {
		if got := parts.Counts(parts.Common(p)); got != want {
			t.Errorf("%s counts as a test: %v, want %v", p, got, want)
		}
	}
}

// TestRuleOfAnOddName: a file's name in a rule is not the rule.
func TestRuleOfAnOddName(t *testing.T) {
	t.Parallel()
	if odd := "name:manifest:a.json"; !parts.Counts(schemas.PartTest, odd) || parts.Counts(schemas.PartTest, "test-only manifest:dev.txt") || parts.Counts(schemas.PartTest, "manifest:tox.ini") {
		t.Errorf("%q is taken for a manifest, or a manifest for a test", odd)
	}
}

func TestShips(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{"pkg/table.csv": true, "a.go": true, "setup.py": false, "requirements.txt": false, "uv.lock": false, "README.md": false} {
		part, rule := parts.Common(p)
		if got := parts.Ships(p, part, rule); got != want {
			t.Errorf("%s ships: %v, want %v", p, got, want)
		}
	}
}

// plugin says one part for all that it has a say in.
type plugin struct {
	name, ext string
	says      map[string]schemas.Part
}

func (p plugin) Name() string            { return p.name }
func (p plugin) Source(path string) bool { return len(path) > 3 && path[len(path)-3:] == p.ext }
func (p plugin) Part(path string, _ lang.Tree) (schemas.Part, string, bool) {
	part, ok := p.says[path]
	return part, p.name, ok
}
func (p plugin) Manifest(path string, _, _ []byte, hunks []lang.Hunk) ([]bool, bool, bool) {
	return make([]bool, len(hunks)), false, path == p.name+".manifest"
}

func TestLanguagesComeFirst(t *testing.T) {
	t.Parallel()
	a := plugin{"a", ".aa", map[string]schemas.Part{"x.bb": schemas.PartDocs, "x.aa": schemas.PartTest, "data": schemas.PartTest}}
	b := plugin{"b", ".bb", map[string]schemas.Part{"x.bb": schemas.PartTest, "data": schemas.PartCI}}
	rules := parts.New(b, a)
	for p, want := range map[string]string{
		"x.bb": "test by b", // its own source, though a has a say and comes first by name
		"x.aa": "test by a", "data": "test by a", "other": "code by ships",
	} {
		part, rule := rules.Part(p, nil)
		if got := string(part) + " by " + rule; got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
	if name, ok := rules.Source("y.bb"); name != "b" || !ok {
		t.Errorf("y.bb is source of %q, %v", name, ok)
	}
	if _, _, ok := rules.Manifest("b.manifest", nil, nil, nil); !ok {
		t.Error("no language was asked to split its manifest")
	}
	if _, _, ok := rules.Manifest("c.manifest", nil, nil, nil); ok {
		t.Error("an unknown manifest was split")
	}
}
