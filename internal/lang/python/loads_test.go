package python

import (
	"slices"
	"testing"
)

// TestForeign has what a build may leave in an environment, and what not.
func TestForeign(t *testing.T) {
	t.Parallel()
	const lib = "venv/lib/python3.12/site-packages/"
	env := map[string]string{lib + "pluggy/_manager.py": "1", lib + "six.py": "1"}
	base := map[string]string{lib + "pluggy/_manager.py": "1", lib + "six.py": "1", lib + "box-1.dist-info/RECORD": "1", lib + "pluggy/__pycache__/_manager.cpython-312.pyc": "1", lib + "__pycache__/six.cpython-312.pyc": "1"}
	for path, foreign := range map[string]bool{
		lib + "box-2.dist-info/RECORD": false, lib + "box.pth": false, lib + "box_cli.py": false,
		lib + "six.py": true, lib + "six/__init__.py": true, lib + "pluggy/_manager.py": true,
		lib + "__pycache__/six.cpython-312.pyc": true, lib + "__pycache__/box.cpython-312.pyc": true,
	} {
		built := map[string]string{}
		for p, sum := range base {
			built[p] = sum
		}
		built[path] = "2"
		got := Language{}.Foreign([]byte(`{"names":["six","pluggy"]}`), env, base, built)
		if slices.Contains(got, path) != foreign {
			t.Errorf("%s: foreign %v", path, !foreign)
		}
	}
}
