// Package serve renders the commands by which the service of a recipe is prepared and started
// in a sandbox, and says when it is ready.
//
// It never runs anything, and never decides how a service is started: languages do
// (lang.Server).
package serve

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Places in the layer of a service. They lie in a folder that layers keep.
const (
	home     = sandbox.HomePath + "/service"
	copyPath = home + "/tree"
)

// Shifts reports whether the clock of a recipe's service can be shifted where it runs: a
// sandbox that shows the host's programs may lack the one for it.
func Shifts(r schemas.Recipe) bool {
	return r.Service != nil && r.Service.Shifts && slices.Contains(r.SystemPackages, clock.Package)
}

// constant are the variables that make the answers of a service the same in each run.
var constant = map[string]string{"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}

func environ(s schemas.Service, c schemas.Command) map[string]string {
	env := around(s)
	maps.Copy(env, c.Env)
	return env
}

// around are the variables of all commands of a service.
func around(s schemas.Service) map[string]string {
	env := maps.Clone(constant)
	if s.Needs(schemas.BrokerSMTP) {
		maps.Copy(env, trust)
	}
	return env
}

// Root is where the tree lies that a service runs in.
func Root(s schemas.Service) string {
	if s.Copied {
		return copyPath
	}
	return sandbox.TreePath
}

// folder is where a command of the service starts.
func folder(s schemas.Service, dir string) string {
	if path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Join(Root(s), dir)
}

// Prepare are the last steps of the build of a state: files are written, the tree is copied
// where the service writes beside it, and with the database up the service's own commands run.
// Nothing that they start is left running.
func Prepare(s schemas.Service) []schemas.Command {
	var out []schemas.Command
	if len(s.Files) > 0 {
		out = append(out, write(s.Files))
	}
	if s.Copied {
		const script = `mkdir -p "$1" && cp -a . "$1"`
		out = append(out, schemas.Command{Argv: []string{"bash", "-c", script, "copy", copyPath}})
	}
	all := enginesOf(s)
	if len(all) == 0 && len(s.Prepare) == 0 {
		return out
	}
	var b strings.Builder
	b.WriteString("set -eu\nat=0\n" + sayWhere)
	argv := []string{prepareName}
	if len(all) > 0 {
		argv = append(argv, strconv.Itoa(s.DBPort), s.DBUser, s.DBPassword, s.DBName)
	}
	for _, e := range all {
		b.WriteString(e.find + e.make)
	}
	for i, c := range s.Prepare {
		c.Dir = folder(s, c.Dir)
		fmt.Fprintf(&b, "at=%d\n%s\n", i+1, recipe.ShellLine(c, around(s)))
	}
	for _, e := range all {
		b.WriteString(e.find + e.stop)
	}
	return append(out, schemas.Command{Argv: append([]string{"bash", "-c", b.String()}, argv...)})
}

// prepareName is the name of the script that prepares, as the shell knows it.
const prepareName = "prepare"

// sayWhere makes the script say at its end which of the service's own commands failed.
const sayWhere = `trap 'code=$?; [ $code = 0 ] || echo "prepare: command $at failed" >&2' EXIT
`

// Prepares reports whether an error is of a build whose script of Prepare failed.
func Prepares(err error) bool {
	var build *sandbox.BuildError
	return errors.As(err, &build) && len(build.Step.Argv) >= 4 && build.Step.Argv[3] == prepareName
}

var failedAt = lazyregexp.New(`prepare: command (\d+) failed\s*$`)

// Failed makes the error of a build whose script of Prepare failed name the command of the
// service that did, and what that printed: the script around it says nothing to who reads of it.
// Other errors stay as they are. The *sandbox.BuildError is still in its chain.
func Failed(s *schemas.Service, err error) error {
	var build *sandbox.BuildError
	if s == nil || !Prepares(err) || !errors.As(err, &build) {
		return err
	}
	output := string(build.Result.Output)
	at := failedAt.FindStringSubmatchIndex(output)
	if at == nil {
		return err
	}
	n, fault := strconv.Atoi(output[at[2]:at[3]])
	if fault != nil || n > len(s.Prepare) {
		return err
	}
	short := *build
	short.Step, short.Result.Output = schemas.Command{Argv: append([]string{"starting"}, kinds(*s)...)}, build.Result.Output[:at[0]]
	if n > 0 {
		short.Step = s.Prepare[n-1]
		short.Step.Argv = firstLines(short.Step.Argv)
	}
	return &prepareError{short: short.Error(), build: err}
}

// firstLines are words without the lines behind their first.
func firstLines(words []string) []string {
	out := slices.Clone(words)
	for i, word := range out {
		if first, _, more := strings.Cut(word, "\n"); more {
			out[i] = first + " …"
		}
	}
	return out
}

// prepareError is a failed build in the words of its service.
type prepareError struct {
	short string
	build error
}

func (e *prepareError) Error() string { return e.short }

func (e *prepareError) Unwrap() error { return e.build }

// write puts files beside those of the tree; they are arguments, in pairs of path and text.
func write(files map[string]string) schemas.Command {
	const script = `set -eu
while [ $# -gt 0 ]; do mkdir -p "$(dirname "$1")"; printf '%s\n' "$2" >"$1"; shift 2; done`
	argv := []string{"bash", "-c", script, "write"}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		argv = append(argv, p, strings.TrimSuffix(files[p], "\n"))
	}
	return schemas.Command{Argv: argv}
}

// Start is the command that serves until it is killed, with its databases. With shift the clock
// of all is ahead; it asks for a service that Shifts.
func Start(s schemas.Service, shift bool) schemas.Command {
	c := schemas.Command{Argv: s.Start.Argv, Dir: folder(s, s.Start.Dir), Env: environ(s, s.Start)}
	if all := enginesOf(s); len(all) > 0 {
		script := "set -eu\n"
		for _, e := range all {
			script += e.find + e.start
		}
		c.Argv = append([]string{"bash", "-c", script + `exec "$@"`, "serve"}, s.Start.Argv...)
	}
	if shift {
		c = clock.Preload(c, "", clock.Shift{Ahead: clock.Ahead})
	}
	return c
}
