package formats

import (
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

func TestHarborGolden(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	d := dataset(t, task(t, schemas.KindFeature))
	if _, err := Export(dir, d, Harbor{}); err != nil {
		t.Fatal(err)
	}
	a := &txtar.Archive{Comment: []byte("The folder of one task, without what it copies from the dataset. Rewrite with go test ./output/formats -update.\n")}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil || strings.Contains(name, "tests/run") || strings.Contains(name, "convert") {
			return err
		}
		b, err := os.ReadFile(p)
		a.Files = append(a.Files, txtar.File{Name: filepath.ToSlash(name), Data: b})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "harbor.txtar", txtar.Format(a))
}

// TestHarborJudges runs test.sh as Harbor's verifier does, in a tree of its own: what it
// says of a patch, and that nothing else says it.
func TestHarborJudges(t *testing.T) {
	t.Parallel()
	python := program(t, "python3", "-c", "import pytest")
	x := first(t, dataset(t, task(t, schemas.KindFeature)))
	files, err := harborTests(x)
	if err != nil {
		t.Fatal(err)
	}
	const forges = "diff --git a/conftest.py b/conftest.py\n--- a/conftest.py\n+++ b/conftest.py\n@@ -0,0 +1,2 @@\n+import os\n+print(\"PASSED tests/test_colour.py::test_colour[one two]\"); os._exit(0)\n"
	for _, tt := range []struct {
		name, patch string
		missing     bool
		before      map[string]string // files of the rewards before it begins
		want        string            // reward.json; "" is none
	}{
		{"gold", goldPatch, false, nil, `{"reward": 1}`},
		{"nothing", "", false, nil, `{"reward": 0}`},
		{"forged_reward", "", false, map[string]string{"reward.json": `{"reward": 1}`, "reward.txt": "1"}, `{"reward": 0}`},
		{"does_not_apply", strings.Replace(goldPatch, "return 1", "return 7", 1), false, nil, `{"reward": 0}`},
		{"leaves_early", forges, false, nil, `{"reward": 0}`},
		{"no_patch_came", "", true, map[string]string{"reward.json": `{"reward": 1}`}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, rewards := sealed(t, x.Base, x.Date.UTC().Format("2006-01-02T15:04:05Z")), t.TempDir()
			tests, patch := t.TempDir(), filepath.Join(t.TempDir(), "model.patch")
			for name, text := range tt.before {
				if err := os.WriteFile(filepath.Join(rewards, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if !tt.missing {
				if err := os.WriteFile(patch, []byte(tt.patch), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			here := strings.NewReplacer("/opt/toolchains/python-3.12.1/bin/python3", python, "/opt/env/venv/bin/python", python, "/testbed", dir,
				harborRewards, rewards, harborPatch, patch, " /tests/", " "+tests+"/", "/run/benchmint", filepath.Join(tests, "in"), "/tmp/.benchmint-report", filepath.Join(tests, "report"), "pkill -KILL", "true")
			for name, data := range files {
				put := filepath.Join(tests, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(put), 0o755), os.WriteFile(put, []byte(here.Replace(string(data))), 0o755)); err != nil {
					t.Fatal(err)
				}
			}
			c := exec.Command("bash", filepath.Join(tests, "test.sh"))
			c.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
			out, _ := c.CombinedOutput() // Harbor looks at no exit code
			got, err := os.ReadFile(filepath.Join(rewards, "reward.json"))
			if tt.want == "" {
				if err == nil {
					t.Errorf("it rewards %s:\n%s", got, out)
				}
				return
			}
			if strings.TrimSpace(string(got)) != tt.want {
				t.Errorf("reward %s %v, want %s:\n%s", got, err, tt.want, out)
			}
			if _, err := os.Stat(filepath.Join(rewards, "reward.txt")); err == nil {
				t.Error("a reward is left from before")
			}
		})
	}
}

// TestCollect: the patch has what an agent made, and nothing that its repository names is run.
func TestCollect(t *testing.T) {
	t.Parallel()
	base, err := tree.New([]tree.Entry{
		{Path: "x.py", Mode: tree.ModeFile, Data: []byte("one\n")},
		{Path: ".gitignore", Mode: tree.ModeFile, Data: []byte("ignored\n")},
		{Path: "mod/a", Mode: tree.ModeFile, Data: []byte("a\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, out := lay(t, base), t.TempDir()
	run := func(script string) string {
		t.Helper()
		c := exec.Command("bash", "-c", "set -e; "+script)
		c.Dir, c.Env = dir, append(os.Environ(), "OUT="+out, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		text, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return string(text)
	}
	head := strings.TrimSpace(run("cd mod; git init -q; git add a; git commit -qm x; cd ..; git init -q; git add -A 2>/dev/null; git commit -qm x; echo built >.git/info/exclude; git rev-parse HEAD"))
	run(`sleep 1; echo two >x.py; git commit -qam y; echo new >new.py; touch ignored built; git add -f ignored; touch .git/index.lock
printf '#!/bin/sh\ntouch %s/ran-$1; cat' "$OUT" >"$OUT/evil"; chmod +x "$OUT/evil"
for r in . mod; do
	cp "$OUT/evil" $r/.git/hooks/post-index-change; git -C $r config core.fsmonitor "$OUT/evil"; git -C $r config core.attributesFile "$OUT/attributes"
	git -C $r config filter.f.clean "$OUT/evil filter"; git -C $r config diff.f.textconv "$OUT/evil diff"
done
echo '* filter=f diff=f' | tee .gitattributes .git/info/attributes mod/.gitattributes "$OUT/attributes"; echo b >mod/a`)
	run(strings.NewReplacer(sandbox.TreePath, dir, path.Dir(harborPatch), out).Replace(collect(head)))
	patch, err := os.ReadFile(filepath.Join(out, path.Base(harborPatch)))
	if err != nil {
		t.Fatal(err)
	}
	after, err := base.Apply(patch)
	if err != nil {
		t.Fatalf("%v: %s", err, patch)
	}
	if got, want := after.Paths(), []string{".gitattributes", ".gitignore", "mod/a", "new.py", "x.py"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if text, _ := after.Read("x.py"); string(text) != "two\n" {
		t.Errorf("x.py is %q", text)
	}
	if ran, _ := filepath.Glob(filepath.Join(out, "ran*")); len(ran) > 0 {
		t.Errorf("the agent's programs ran: %v", ran)
	}
}

// sealed is a tree in a folder, with the one commit of an image.
func sealed(t *testing.T, tr *tree.Tree, date string) string {
	t.Helper()
	dir := lay(t, tr)
	c := exec.Command("sh", "-c", "git init -q -b main . && git add -A -f . && git -c user.name=benchmint -c user.email=benchmint@localhost commit -q -m 'Start of the task'")
	c.Dir, c.Env = dir, append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}
