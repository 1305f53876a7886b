package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ files, want string }{
		"none":      {"", "tests/test_x.py"},
		"folder":    {"tests/test_a.py tests/test_b.py tests/conftest.py other/tests/test_c.py", "tests/test_x.py"},
		"behind":    {"tests/a_test.py tests/b_test.py tests/test_c.py", "tests/x_test.py"},
		"no_module": {"tests/data/app.py tests/data/b.py test/test_a.py", "test/test_x.py"},
	} {
		if got := (Language{}).Place(strings.Fields(tc.files), []string{"app.py"}, "x"); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestReworded runs a module in other words: it does the same, and nobody finds its text.
func TestReworded(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NO PYTHON: apt-get install python3")
	}
	const source = "\"\"\"It \u2713.\"\"\"\nfrom __future__ import annotations\nimport os.path\nHERE = os.path.basename(__file__)\n\ndef f(x: Unknown = 1):\n    \"\"\"F.\"\"\"\n    return x\n"
	as, data, ok := Language{}.Reworded("m.py", []byte(source))
	if !ok || as != "m.py" || strings.Contains(string(data), "return") {
		t.Fatalf("%s, %t: %s", as, ok, data)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, as), data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", "import inspect, m\nprint(m.f(2), m.HERE, m.__doc__ == 'It \\u2713.', m.f.__doc__, m.f.__annotations__, 'return' in open(m.__file__).read())\ntry: print(inspect.getsource(m.f))\nexcept OSError: print('no source')")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if want := "2 m.py True F. {'x': 'Unknown'} False\nno source\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
	for _, p := range []string{"m.txt", "setup.py"} {
		if _, _, ok := (Language{}).Reworded(p, nil); ok {
			t.Errorf("%s has other words", p)
		}
	}
}
