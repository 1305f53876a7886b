package sandboxtest

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// sealed: what a run may not change, and what it may do beside it.
func sealed(t *testing.T, b *box) {
	layer, _ := b.build(t, sandbox.Build{Key: b.key(t), Parent: b.base, Lease: true, Files: []sandbox.File{
		{Path: "/testbed/tests/deep/test_a.py", Mode: 0o640, Data: []byte("judged\n")},
		{Path: "/testbed/tests/test_b.py", Mode: 0o644, Data: []byte("judged\n")},
		{Path: "/testbed/tests/odd\nname", Mode: 0o644, Data: []byte("judged\n")},
		{Path: "/testbed/tests/free.txt", Mode: 0o644, Data: []byte("free\n")},
		{Path: "/testbed/data/link", Mode: fs.ModeSymlink, Data: []byte("../tests/test_b.py")},
		{Path: "/testbed/setup.cfg", Mode: 0o644, Data: []byte("judged\n")},
	}})
	linked, _ := b.build(t, sandbox.Build{Key: b.key(t), Parent: layer, Lease: true, Steps: []schemas.Command{bash("ln tests/test_b.py another && cmp tests/test_b.py another")}})
	by := sandbox.Run{Layer: linked, Sealed: []string{"/testbed/tests/test_b.py"}, Command: bash("echo x >another; cat tests/test_b.py")}
	if res := b.run(t, by); string(res.Output) != "judged\n" && !strings.HasSuffix(string(res.Output), "denied\njudged\n") {
		t.Errorf("written by a hard link that a build made: %s", res.Output)
	}
	run := sandbox.Run{Layer: layer, Sealed: []string{
		"/testbed/setup.cfg", "/testbed/tests/deep/test_a.py", "/testbed/tests/test_b.py", "/testbed/tests/odd\nname", "/testbed/data/link",
		"/testbed/tests/__pycache__/", "/testbed/not/there",
	}}
	for name, script := range map[string]string{
		"write":       `echo x >tests/test_b.py`,
		"write_deep":  `echo x >>tests/deep/test_a.py`,
		"write_odd":   "echo x >'tests/odd\nname'",
		"remove":      `rm -f tests/test_b.py`,
		"replace":     `echo x >tests/new && mv -f tests/new tests/test_b.py`,
		"move":        `mv tests/test_b.py tests/other.py`,
		"move_folder": `mv tests tests2`,
		"move_deep":   `mv tests/deep tests/deep2`,
		"remove_all":  `rm -rf tests && mkdir tests && echo x >tests/test_b.py`,
		"mode":        `chmod 666 tests/test_b.py`,
		"settings":    `echo x >setup.cfg`,
		"cache":       `echo x >tests/__pycache__/x.pyc`,
		"move_cache":  `mv tests/__pycache__ tests/c && mkdir tests/__pycache__`,
		"link":        `ln -sfn /tmp data/link`,
		"time":        `touch -d 2000-01-01 tests/test_b.py`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run
			r.Command = bash(script)
			if res := b.run(t, r); res.End != sandbox.Exited || res.ExitCode == 0 {
				t.Errorf("%s, exit %d; want it refused: %s", res.End, res.ExitCode, res.Output)
			}
		})
	}
	run.Command = bash(`set -e
cat tests/deep/test_a.py tests/test_b.py data/link setup.cfg
echo x >tests/new; mkdir -p tests/deep/out; echo x >tests/deep/out/y; mv tests/deep/out tests/deep/out2; rm -r tests/deep/out2
echo x >tests/free.txt; rm tests/free.txt; echo x >top; mv top tests/new
[ ! -e not ]; if command -v git >/dev/null; then git init -q . 2>/dev/null; git status >/dev/null; fi`)
	if res := b.run(t, run); res.End != sandbox.Exited || res.ExitCode != 0 {
		t.Errorf("%s, exit %d: %s", res.End, res.ExitCode, res.Output)
	}
	watched := sandbox.Run{Layer: layer, Command: bash("echo x >tests/free.txt; rm tests/test_b.py; cat setup.cfg; mv tests/deep d; ln -sfn /tmp data/link; echo y >new"), Watch: []string{
		"/testbed/setup.cfg", "/testbed/tests/deep/test_a.py", "/testbed/tests/free.txt", "/testbed/tests/odd\nname", "/testbed/tests/test_b.py", "/testbed/data/link",
	}}
	want := []string{"/testbed/tests/deep/test_a.py", "/testbed/tests/free.txt", "/testbed/tests/test_b.py", "/testbed/data/link"}
	if diff := cmp.Diff(want, b.run(t, watched).Written); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}
