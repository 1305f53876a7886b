package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/schemas"
)

// Rule is what clients ask of an image, or what must not be in one.
type Rule string

// The rules. docs/formats.md says what each is for.
const (
	RuleEntrypoint Rule = "entrypoint" // clients give a command, which an entry point would take for its arguments
	RuleStop       Rule = "stop"       // the first process of clients is a sleep, which only SIGKILL ends at once
	RuleTree       Rule = "tree"       // the work tree is where it starts: clean, one commit, no other history
	RuleRoot       Rule = "root"       // clients work in the tree as root
	RuleTools      Rule = "tools"      // what clients and the scripts of formats call
	RuleLeak       Rule = "leak"       // the solution, its tests or a later release
	RuleSecret     Rule = "secret"     // credentials
)

// Finding is one rule that an image does not keep.
type Finding struct {
	Rule   Rule   `json:"rule"`
	Detail string `json:"detail"`
}

// programs are what clients and the scripts of formats call in an image.
var programs = []string{"base64", "bash", "env", "find", "git", "mktemp", "pkill", "sed", "setpriv", "sleep", "stat", "tail", "tar", "timeout"}

// look reports what is wrong with an image from within it, as root: a line "rule detail" each.
const look = `for p in "$@"; do command -v "$p" >/dev/null || echo "tools $p is not there"; done
cd ` + sandbox.TreePath + ` 2>/dev/null || { echo "tree ` + sandbox.TreePath + ` is not there"; exit 0; }
changed=$(git --no-optional-locks status --porcelain 2>&1) || { echo "root git does not work in the tree: $(printf %s "$changed" | head -n 1)"; exit 0; }
[ -z "$changed" ] || printf '%s\n' "$changed" | head -n 5 | sed 's/^/tree changed: /'
[ "$(git rev-list --all --count)" = 1 ] || echo "tree $(git rev-list --all --count) commits, want 1"
[ -z "$(git remote)" ] || echo "tree it has a remote"
`

// Lint looks at an image by every rule. The error is a fault of the engine.
func (m Maker) Lint(ctx context.Context, image sandbox.Layer, t Task) ([]Finding, error) {
	found := []Finding{}
	say := func(r Rule, form string, args ...any) { found = append(found, Finding{r, fmt.Sprintf(form, args...)}) }
	setup, err := m.Engine.Setup(ctx, image)
	if err != nil {
		return nil, err
	}
	if len(setup.Entrypoint) > 0 {
		say(RuleEntrypoint, "it has the entry point %q", setup.Entrypoint)
	}
	if setup.StopSignal != "SIGKILL" {
		say(RuleStop, "its stop signal is %q", setup.StopSignal)
	}
	if setup.WorkingDir != sandbox.TreePath {
		say(RuleTree, "it starts in %q", setup.WorkingDir)
	}
	out, err := m.Engine.Root(ctx, image, append([]string{"/bin/sh", "-c", look, "sh"}, programs...))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		rule, detail, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		say(Rule(rule), "%s", detail)
	}
	hidden, err := m.search(ctx, image, t)
	return append(found, hidden...), err
}

// search looks into every file of the image above its base system.
func (m Maker) search(ctx context.Context, image sandbox.Layer, t Task) ([]Finding, error) {
	var found []Finding
	needles := seal.Needles(seal.Task{
		Base: t.Trees.B, Solution: t.Trees.G, Patch: t.Trees.Patch, TestPatch: t.Trees.TestPatch,
		Name: t.Start.Repo, Commit: t.Start.Commit, Version: t.Version,
	})
	var toolchain sandbox.Toolchain
	if m.Environments != nil {
		want := t.Environment.Recipe.Toolchain
		var err error
		if toolchain, err = m.Environments.Toolchains.Get(ctx, want.Name, want.Version); err != nil {
			return nil, err
		}
	}
	scan, err := seal.Search(ctx, needles, func(ctx context.Context, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
		return m.Engine.Files(ctx, image, visit)
	}, toolchain.Dir)
	if err != nil {
		return nil, err
	}
	for _, h := range scan.Hits {
		found = append(found, Finding{RuleLeak, fmt.Sprintf("%s: %s %q", h.Place, h.Kind, h.Needle)})
	}
	known := screened(t)
	err = m.Engine.Files(ctx, image, func(name string, info fs.FileInfo, open func() (io.ReadCloser, error)) error {
		if !info.Mode().IsRegular() || info.Size() == 0 {
			return nil
		}
		r, err := open()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b, err := io.ReadAll(io.LimitReader(r, most))
		if err := errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, m.credentials(name, b, known)...)
		return nil
	})
	return found, err
}

// most is how much of a file is searched for credentials.
const most = 8 << 20

// screened are the digests of the start's files, which export has searched: what it let
// through stays.
func screened(t Task) map[schemas.Digest]bool {
	out := map[schemas.Digest]bool{}
	for _, e := range t.Trees.B.Entries() {
		out[schemas.DigestBytes(e.Data)] = true
	}
	return out
}

// credentials are those of this machine anywhere, and in text what has the form of one
// service: not in packages of a registry, which are public, and not in files of the start.
func (m Maker) credentials(name string, b []byte, known map[schemas.Digest]bool) []Finding {
	for i, s := range m.Secrets {
		if bytes.Contains(b, []byte(s)) {
			return []Finding{{RuleSecret, fmt.Sprintf("%s holds credential %d of this machine", name, i+1)}}
		}
	}
	if published(name) || bytes.IndexByte(b[:min(len(b), 8<<10)], 0) >= 0 || known[schemas.DigestBytes(b)] {
		return nil
	}
	var out []Finding
	for _, f := range secrets.ScanSpecific(string(b)) {
		out = append(out, Finding{RuleSecret, secrets.Tell(name, []secrets.Finding{f})})
	}
	return out
}

// published reports whether a file is one of a package or a toolchain.
func published(name string) bool {
	if strings.HasPrefix(name, sandbox.ToolchainPath+"/") {
		return true
	}
	if !strings.HasPrefix(name, sandbox.EnvPath+"/") && !strings.HasPrefix(name, httpsuite.JudgePath+"/") {
		return false
	}
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(part string) bool {
		return part == "site-packages" || part == "gomod" || part == "node_modules"
	})
}
