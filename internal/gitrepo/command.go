package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/tree"
)

// renames are git's own defaults, said aloud, so that no version of git and no
// configuration decides them.
var renames = []string{"-M50%", "-l1000", "--diff-algorithm=myers", "--indent-heuristic", "--inter-hunk-context=0",
	"--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none", "--submodule=short", "-O/dev/null"}

// isolated is the environment of every git that reads: no configuration, no
// attributes, no grafts, no replacements, no lazy fetch.
func isolated(view string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + view, "XDG_CONFIG_HOME=" + view, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1", "GIT_ATTR_SOURCE=" + EmptyTree, "GIT_GRAFT_FILE=" + os.DevNull,
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"GIT_CONFIG_COUNT=4", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_1=false",
		"GIT_CONFIG_KEY_2=core.hooksPath", "GIT_CONFIG_VALUE_2=" + os.DevNull,
		// git itself reads nothing larger to count its lines, and writes it out in pieces.
		"GIT_CONFIG_KEY_3=core.bigFileThreshold", "GIT_CONFIG_VALUE_3=" + strconv.Itoa(tree.MaxFile),
	}
}

// command is git on the view.
func command(ctx context.Context, view string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + view, "--literal-pathspecs"}, args...)...)
	cmd.Dir = view
	cmd.Env = isolated(view)
	return cmd
}

// inside is git in a directory of the user's, before there is a view. It may not
// look above dir: the repository around a folder is not what was named.
func inside(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(isolated(os.DevNull), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	return cmd
}

// Apply applies a patch to the files in a directory, as git apply does: lines may have
// moved, and nothing else is forgiven. It gives what git says; nothing of a patch that it
// refuses is applied. A patch for which git would need more than memory bytes is refused.
func Apply(ctx context.Context, dir string, patch []byte, memory int64) (said []byte, err error) {
	cmd := inside(ctx, dir, "apply", "--whitespace=nowarn", "-")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	err = limit(cmd.Process.Pid, memory) // before git has the patch
	if err == nil {
		_, _ = in.Write(patch) // git may end before it has read all: what it says counts
	}
	_ = in.Close()
	if said := cmd.Wait(); err == nil {
		err = said
	}
	return out.Bytes(), err
}

// limit bounds what a process takes: memory, one file, seconds of a processor.
func limit(pid int, memory int64) error {
	const seconds = 60
	for resource, most := range map[int]uint64{unix.RLIMIT_AS: uint64(memory), unix.RLIMIT_FSIZE: tree.MaxFile, unix.RLIMIT_CPU: seconds} { //nolint:gosec // it is positive
		// Past the soft bound of time a process gets a signal of its own, past the hard one SIGKILL.
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most + 1}, nil); err != nil {
			return fmt.Errorf("limiting git: %w", err)
		}
	}
	return nil
}

// Files are the paths that git knows in a folder with a repository of its own, and those that
// it would add; what it is told to ignore is not among them. A path may be gone. The folder may be
// a stranger's: a pipe in the place of a file that git reads is an error.
func Files(ctx context.Context, dir string) ([]string, error) {
	return filesWithin(ctx, dir, time.Minute)
}

func filesWithin(ctx context.Context, dir string, limit time.Duration) ([]string, error) {
	for _, name := range []string{"HEAD", "config", "index", "info/exclude", "packed-refs"} {
		name = filepath.Join(dir, ".git", name)
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a file", name)
		}
	}
	timed, end := context.WithTimeout(ctx, limit)
	defer end()
	out, err := output(inside(timed, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"))
	if timed.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("git ls-files: no answer within %s: is there a pipe in the place of a .gitignore?", limit)
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// online is git that talks to a remote. Proxies, CA files, SSH agents and askpass
// programs of the environment are needed there; configuration files are not.
func online(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = isolated(os.DevNull)
	for _, kv := range os.Environ() {
		key, _, _ := strings.Cut(kv, "=")
		if onlineKeys[key] || strings.HasSuffix(strings.ToLower(key), "_proxy") {
			cmd.Env = append(cmd.Env, kv) // the last of two equal keys counts
		}
	}
	// One that outlives us would write into a mirror whose lock is free.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// ext:: and the like run programs that a URL names.
	cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh")
	return cmd
}

var onlineKeys = map[string]bool{
	"HOME": true, "SSH_AUTH_SOCK": true, "SSH_ASKPASS": true, "GIT_ASKPASS": true, "GIT_SSH": true, "GIT_SSH_COMMAND": true,
	"GIT_SSL_CAINFO": true, "GIT_SSL_CAPATH": true, "SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "CURL_CA_BUNDLE": true,
}

// output runs cmd and gives what it printed; git's own words are in the error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, gitError(cmd, err, stderr.Bytes())
	}
	return out, nil
}

func gitError(cmd *exec.Cmd, err error, stderr []byte) error {
	verb := "git"
	for i, a := range cmd.Args[1:] {
		if i > 0 && cmd.Args[i] == "-c" || strings.HasPrefix(a, "-") { // the value of -c is not the verb
			continue
		}
		verb += " " + a
		break
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(stderr)), "\n")
	for line := range strings.Lines(string(stderr)) { // hints and warnings may come first
		if strings.HasPrefix(line, "fatal: ") {
			said = strings.TrimSpace(line)
			break
		}
	}
	if said == "" {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return fmt.Errorf("%s: %w: %s", verb, err, said)
}
