package grade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// sums prints the type and the path of all that lies in a built tree but folders, and then the
// SHA-256 and the path of what can be read, each ended by a zero byte. Of a link the target is
// summed; programs and search path are the base's own.
const sums = `PATH=/usr/bin:/bin; export PATH
find . -path ./.git -prune -o ! -type d -printf '%y  %p\0'
find . -path ./.git -prune -o -type f -print0 | xargs -0 -r sha256sum -z -- 2>/dev/null || :
find . -path ./.git -prune -o -type l -print0 | while IFS= read -r -d '' p; do printf '%s  %s\0' "$(readlink -n -- "$p" | sha256sum | cut -c 1-64)" "$p"; done`

// built is what lies in the tree of a place after its build, by path: the letter of its type, and
// the digest of its content behind it. What cannot be read has no digest, and so is like nothing else.
func built(ctx context.Context, b *testrun.Bench, at testrun.Place) (map[string]string, error) {
	limits := b.Limits
	res, err := b.Builder.Sandbox.Run(ctx, sandbox.Run{Layer: at.Layer, Command: schemas.Command{Argv: []string{"bash", "-c", sums}}, Limits: limits})
	if err != nil {
		return nil, fmt.Errorf("reading what a build left: %w", err)
	}
	if res.End != sandbox.Exited {
		return nil, pipeline.Reject(schemas.Tampered, "the build left more than can be read within the limits (%s)", res.End)
	}
	if res.ExitCode != 0 {
		return nil, fmt.Errorf("reading what a build left: exit code %d: %s", res.ExitCode, res.Output)
	}
	return summed(string(res.Output)), nil
}

// summed reads what sums prints.
func summed(output string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(output, "\x00") {
		what, p, ok := strings.Cut(line, "  ")
		p = strings.TrimPrefix(p, "./")
		switch {
		case !ok:
		case len(what) == 1:
			out[p] = what
		default:
			out[p] += what
		}
	}
	return out
}

// builds reports whether a recipe runs code of the tree before the tests.
func builds(r schemas.Recipe) bool { return len(r.Build) > 0 }

// changedByBuild are the paths of the task that are other in a built place than in its tree,
// sorted; but for those that are other in the base as well, whose build is not the answer's.
func (g *Grader) changedByBuild(ctx context.Context, d *prepared, b *testrun.Bench, at testrun.Place) ([]string, error) {
	if !builds(b.Environment.Recipe) {
		return nil, nil
	}
	now, err := built(ctx, b, at)
	if err != nil {
		return nil, err
	}
	var out []string
	behind := testrun.Behind(g.rules, d.bench.Lang, d.task.Trees.B, at.Tree)
	for _, p := range differing(now, at.Tree) {
		if b.Environment.Recipe.Service != nil && schemas.InSuite(p) && now[p] == "" {
			continue // the suite lies beside the service, which never sees it
		}
		link := strings.HasPrefix(now[p], "l")
		if !slices.Contains(d.generated, p) && (behind[p] || g.ofTask(d.bench.Lang, p, at.Tree) || shadows(d.bench.Lang, d.start.loads, p, link, d.task.Trees)) {
			out = append(out, p)
		}
	}
	return out, nil
}

// ofTask reports whether a build has no business with a path: tests, hooks and manifests.
func (g *Grader) ofTask(l lang.Language, p string, t *tree.Tree) bool {
	if guarded, ok := l.(lang.Guarded); ok && guarded.Hook(p, t) && !strings.Contains(p, ".egg-info/") {
		return true // setuptools writes the entry points of the project itself, which are among its settings
	}
	part, _ := g.rules.Part(p, t)
	return part == schemas.PartTest || parts.IsManifest(p)
}

// differing are the paths that are not in a built tree as they are in its files, sorted.
func differing(now map[string]string, t *tree.Tree) []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range t.Entries() {
		if e.Mode == tree.ModeModule {
			continue
		}
		seen[e.Path] = true
		sum, kind := sha256.Sum256(e.Data), "f"
		if e.Mode == tree.ModeSymlink {
			kind = "l"
		}
		if now[e.Path] != kind+hex.EncodeToString(sum[:]) {
			out = append(out, e.Path)
		}
	}
	for p := range now {
		if !seen[p] {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
