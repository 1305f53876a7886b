package golang

import "testing"

func TestRunnerSettings(t *testing.T) {
	t.Parallel()
	l := Language{}
	const plain = "module example.com/x\n\ngo 1.21\n"
	for _, tc := range []struct {
		name, path, before, after string
		same                      bool
	}{
		{"requirement", "go.mod", plain, plain + "require example.com/y v1.0.0\n", true},
		{"replacement", "go.mod", plain, plain + "replace example.com/y => ./y\n", false},
		{"another_replacement", "sub/go.mod", plain + "replace example.com/y => ./y\n", plain + "replace example.com/y => ./z\n", false},
		{"reordered", "go.mod", plain + "replace a.b/y => ./y\nreplace a.b/z => ./z\n", plain + "replace (\n\ta.b/z => ./z\n\ta.b/y => ./y\n)\n", true},
		{"new_workspace", "go.work", "", "go 1.21\nuse .\n", false},
		{"member", "go.work", "go 1.21\nuse .\n", "go 1.21\nuse (\n\t.\n\t./fake\n)\n", false},
		{"not_read", "go.mod", plain, "module", false},
		{"another_file", "go.sum", "a", "b", true},
	} {
		if got := l.RunnerSettings(tc.path, []byte(tc.before)) == l.RunnerSettings(tc.path, []byte(tc.after)); got != tc.same {
			t.Errorf("%s: the same: %v, want %v", tc.name, got, tc.same)
		}
	}
	for path, want := range map[string]bool{"vendor/modules.txt": true, "sub/vendor/a.b/c/c.go": true, "vendors/x.go": false, "vendor.go": false} {
		if l.Hook(path, nil) != want {
			t.Errorf("hook %s: %v", path, !want)
		}
	}
}

func TestWeakens(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path, task, answer string
		want               bool
	}{
		{"go.mod", "module x\n\ngo 1.22\n", "module x\n\ngo 1.21\n", true},
		{"sub/go.mod", "module x\n\ngo 1.24.1\n", "module x\n", true},
		{"go.work", "go 1.23\n", "go 1.9\n", true},
		{"go.mod", "module x\n\ngo 1.24\n", "module x\n\ngo 1.22.3\n", false},
		{"go.mod", "module x\n\ngo 1.18\n", "module x\n\ngo 1.16\n", false},
		{"go.mod", "module x\n\ngo 1.18\n", "module x\n\ngo 1.24\n", false},
		{"go.txt", "go 1.24", "go 1.16", false},
	} {
		if got := (Language{}).Weakens(tc.path, []byte(tc.task), []byte(tc.answer)); got != tc.want {
			t.Errorf("%s, %q after %q: %v", tc.path, tc.answer, tc.task, got)
		}
	}
}
