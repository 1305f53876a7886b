package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/spec"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// release is a library of a test.
type release struct {
	world
	starter, solution *tree.Tree
	recipe            schemas.Recipe
}

func (r release) Start(id string) (schemas.Start, error) {
	return schemas.Start{ChangeID: id, Repo: "acme/kit", Language: "python", Kind: schemas.KindLibrary, BaseDate: environmenttest.Date()}, nil
}

func (r release) Provisioned(string) (schemas.Provisioned, error) {
	return schemas.Provisioned{Environment: schemas.Environment{Recipe: r.recipe}}, nil
}

func (r release) trees() states.Trees {
	return states.Trees{B: r.starter, S: r.starter, G: r.solution, Patch: []byte("diff --git a/src/kit/core.py b/src/kit/core.py\n--- a/src/kit/core.py\n+++ b/src/kit/core.py\n@@ -12,1 +12,4 @@\n-        raise NotImplementedError\n" +
		"+        secret_sauce = [n * 7919 for n in range(times)]\n+        for drop in secret_sauce:\n+            self.spill(drop, of=secret_sauce)\n+        return len(secret_sauce)\n")}
}

// TestReal builds the documentation of two small libraries with the real tools. Their
// settings ask for what is not there, for the network, and for the source code.
func TestReal(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIP: builds environments")
	}
	archive, err := txtar.ParseFile("testdata/kit.txtar")
	if err != nil {
		t.Fatal(err)
	}
	w := environmenttest.New(t, environmenttest.Bubblewrap(t), python.Language{}, python.ReportFormat)
	for _, tool := range []string{"sphinx", "mkdocs"} {
		t.Run(tool, func(t *testing.T) {
			r := release{world: world{}, starter: kit(t, archive, tool, "starter"), solution: kit(t, archive, tool, "release")}
			project := lang.Project{Name: "acme/kit", Base: r.starter, Solution: r.solution, Date: environmenttest.Date(), Available: w.Available, PinToDate: true}
			if r.recipe, err = w.Plugin.Infer(project); err != nil {
				t.Skipf("SKIP: %v", err)
			}
			kept := blobs{}
			d := New(w.Builder, environment.Projects{}, Outside{Records: r, Blobs: kept, Printer: printer{}, PrintedBy: "Browser 1"}, Asked{Source: "docs"})
			docs, ok := python.Language{}.Documentation(project, r.recipe)
			start, _ := r.Start("x")
			if !ok || docs.Tool != tool {
				t.Fatalf("%+v", docs)
			}
			pages, packages, err := d.try(t.Context(), project, start, docs, docs.Recipes[0])
			if err != nil {
				t.Fatal(err)
			}
			if tool == "sphinx" { // both go the same way
				again, _, err := d.try(t.Context(), project, start, docs, docs.Recipes[0])
				if diff := cmp.Diff(string(pages), string(again)); diff != "" || err != nil {
					t.Errorf("a second build: %v\n%s", err, diff)
				}
				for _, hidden := range []string{"secret_sauce", "[source]", "_modules"} {
					if strings.Contains(string(pages), hidden) {
						t.Errorf("the pages hold %q", hidden)
					}
				}
			}
			read, err := spec.ReadPages(pages)
			if diff := cmp.Diff([]string{map[string]string{"sphinx": "kit_gone.extension", "mkdocs": "kit-gone"}[tool]}, read.Lost); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			digest, _ := kept.Put(pages)
			trees := r.trees()
			s, err := d.specify(t.Context(), facts{start: start, release: schemas.Release{Version: "1"}, starter: trees.B, patch: trees.Patch, built: Built{Tool: tool, Pages: digest, Packages: packages}})
			if err != nil {
				t.Fatal(err)
			}
			text := kept[s.Files[0].Digest]
			wants := []string{"Stirs what is in the pot", "stir(times", "how often"}
			if tool == "sphinx" {
				wants = append(wants, "Built on Jun 01, 2024.")
			}
			for _, want := range wants {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if s.Reader != tool || !strings.HasPrefix(strings.ToLower(s.BuiltBy), tool+" ") || packages < 5 || s.Described != 3 || s.Pictures != 1 || s.Redacted != 0 || strings.Contains(text, "secret_sauce") {
				t.Errorf("%+v\n%s", s, text)
			}
		})
	}
}

// kit are the files of one library: those of both, of the tool, and its state.
func kit(t *testing.T, archive *txtar.Archive, tool, state string) *tree.Tree {
	t.Helper()
	files := map[string]string{}
	for _, f := range archive.Files {
		of, name, _ := strings.Cut(f.Name, "/")
		if of == "both" || of == tool || of == state {
			files[name] = string(f.Data)
		}
	}
	return planted(t, files)
}

var _ sandbox.Sandbox = (*machine)(nil)
