package python

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
)

// TestObserve loads a tree with the watcher: what ran, from where, and what did not load.
func TestObserve(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NO PYTHON HERE: python3 is not in PATH")
	}
	root := t.TempDir()
	for p, text := range map[string]string{
		"pkg/__init__.py": "from pkg.tools import make\n\nONE = make(1)\nTWO = (lambda x: x)(2)\n",
		"pkg/tools.py":    "import functools\n\n\n@functools.lru_cache()\ndef make(x):\n    def inner():\n        return x\n    return inner\n\n\ndef rest():\n    return 1\n",
		"pkg/first.py":    "import sys\n\nsys.modules['pkg.second'] = None\n",
		"pkg/second.py":   "x = 1\n",
		"pkg/lost.py":     "def gone():\n    raise NotImplementedError('masked: gone')\n\n\ntry:\n    gone()\nexcept Exception as e:\n    raise ImportError('no luck') from e\n",
		"pkg/dies.py":     "import os\n\nos._exit(3)\n",
	} {
		at := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	script, plan, out := filepath.Join(t.TempDir(), "observe.py"), filepath.Join(t.TempDir(), "plan"), filepath.Join(t.TempDir(), "out")
	asked, err := json.Marshal(map[string]any{"modules": []string{"pkg", "pkg.dies", "pkg.first", "pkg.lost", "pkg.second", "pkg.tools"}, "roots": []string{"."}, "seconds": 30})
	if err != nil {
		t.Fatal(err)
	}
	for at, data := range map[string][]byte{script: observer, plan: asked} {
		if err := os.WriteFile(at, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.Command(program, script, root, out, plan).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	report, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	l := Language{}.Observed([]lang.Output{{Report: report}})
	ran := map[string]string{}
	for _, s := range l.Ran {
		ran[s.Path+" "+s.Name] = s.First
	}
	if diff := cmp.Diff(map[string]string{"pkg/tools.py make": "pkg/__init__.py:3", "pkg/__init__.py <lambda>": "pkg/__init__.py:4", "pkg/lost.py gone": "pkg/lost.py:6"}, ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	want := []mask.NotLoaded{
		{Unit: "pkg.dies", Message: "the import ended the process: exit code 3"},
		{Unit: "pkg.lost", Message: "NotImplementedError: masked: gone", Path: "pkg/lost.py"},
	}
	if diff := cmp.Diff(want, l.Failed); diff != "" || l.Units != 6 {
		t.Errorf("%d units, failed (-want +got):\n%s", l.Units, diff)
	}
	if hostile := (Language{}).Observed([]lang.Output{{Report: []byte("{\"ran\":[1,2]}\n{\"ran\":\"x\"}\nno\n{\"ran\":[\"/etc\",1,\"f\",\"\"]}\n" + strings.Repeat("x", 1<<20))}}); len(hostile.Failed) != 0 || hostile.Units != 0 {
		t.Errorf("%+v", hostile)
	}
}
