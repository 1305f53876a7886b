package python

import (
	"testing"

	"github.com/benchmint/benchmint/internal/environment/environmenttest"
)

func TestRunnerSettings(t *testing.T) {
	t.Parallel()
	l := Language{}
	const plain = "[project]\nname = \"x\"\n"
	for _, tc := range []struct {
		name, path, before, after string
		same                      bool
	}{
		{"other_table", "pyproject.toml", plain, plain + "[tool.black]\nline-length = 99\n", true},
		{"own_table", "pyproject.toml", plain, plain + "[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n", false},
		{"own_value", "pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n", "[tool.pytest.ini_options]\naddopts = \"-x\"\n", false},
		{"reordered", "pyproject.toml", "[tool.pytest.ini_options]\na = 1\nb = 2\n", "[tool.pytest.ini_options]\nb = 2\n\na = 1 # why\n", true},
		{"plugin", "pyproject.toml", plain, plain + "[project.entry-points.pytest11]\nx = \"x.plugin\"\n", false},
		{"poetry_plugin", "pyproject.toml", plain, plain + "[tool.poetry.plugins.pytest11]\nx = \"x.plugin\"\n", false},
		{"cfg", "setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\n[tool:pytest]\naddopts = -x\n", false},
		{"cfg_plugin", "setup.cfg", "", "[options.entry_points]\npytest11 =\n  x = x.plugin\n", false},
		{"cfg_other", "setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = y\n", true},
		{"cfg_setup_py", "setup.py", "setup()", "setup(entry_points={'pytest11': 'x = x'})", false},
		{"setup_py_other", "setup.py", "setup(entry_points={'pytest11': 'x = x'})\n", "setup(name='y',\nentry_points={'pytest11': 'x = x'})\n", false},
		{"setup_py_version", "setup.py", "setup(version='1')", "setup(version='2')", true},
		{"cfg_carriage_return", "setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\r[tool:pytest]\raddopts = -x\n", false},
		{"cfg_form_feed", "setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\f[tool:pytest]\faddopts = -x\n", false},
		{"cfg_unicode", "setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\u0085[tool:pytest]\u2028addopts = -x\n", false},
		{"cfg_comment", "setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\n[tool:pytest]#]\naddopts = -x\n", false},
		{"cfg_value", "setup.cfg", "[tool:pytest]\naddopts = -q\n", "[tool:pytest]\naddopts = -q\f -p x\n", false},
		{"cfg_beside", "setup.cfg", "[tool:pytest]\naddopts = -q\n\n[metadata]\nname = x\n", "[metadata]\nname = y\n[tool:pytest]\naddopts = -q\n", true},
		{"in_a_folder", "sub/tox.ini", "", "[pytest]\naddopts = -x\n", false},
		{"not_toml", "pyproject.toml", plain, "[tool", false},
		{"not_a_manifest", "src/x.py", "a", "b", true},
	} {
		if got := l.RunnerSettings(tc.path, []byte(tc.before)) == l.RunnerSettings(tc.path, []byte(tc.after)); got != tc.same {
			t.Errorf("%s: the same: %v, want %v", tc.name, got, tc.same)
		}
	}
	start := environmenttest.Tree(t, map[string]string{"pluggy/__init__.py": ""})
	for path, want := range map[string]bool{
		"a/sitecustomize.py": true, "x.pth": true, "src/conftest.py": true, "src/site.py": false, "pth": false, "sub/pytest.ini": true, "pytest.py": true, "src/pytest/x.py": true,
		"x/pytest.py": false, "pluggy/x.py": false, "x-1.dist-info/entry_points.txt": true, "x/entry_points.txt": false, "__pycache__/x.pyc": true, "pytest_x.py": false,
	} {
		if l.Hook(path, start) != want {
			t.Errorf("hook %s: %v", path, !want)
		}
	}
}
