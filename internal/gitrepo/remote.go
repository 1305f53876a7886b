package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	neturl "net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

// Patience is how long a remote may say nothing.
type Patience struct {
	// Say is after how long Waiting is called, and called again; End is when the remote is
	// given up. It is not given up while git works on what came.
	Say, End time.Duration
	Waiting  func(host string, silent time.Duration)
}

// The patience of a context that holds none.
const (
	defaultSay = 20 * time.Second
	defaultEnd = 2 * time.Minute
)

type patienceKey struct{}

// WithPatience gives Look, and all that its origin fetches later, a patience. Fields of
// zero mean the defaults: 20 seconds, 2 minutes, and nobody to be told.
func WithPatience(ctx context.Context, p Patience) context.Context {
	return context.WithValue(ctx, patienceKey{}, p)
}

func patienceOf(ctx context.Context) Patience {
	p, _ := ctx.Value(patienceKey{}).(Patience)
	p.Say, p.End = cmp.Or(p.Say, defaultSay), cmp.Or(p.End, defaultEnd)
	if p.Waiting == nil {
		p.Waiting = func(string, time.Duration) {}
	}
	return p
}

// Bounds on what git prints while it talks to a remote, in bytes: a list of refs, and
// what the remote wants people to read.
const (
	maxList = 256 << 20
	maxSaid = 64 << 10
)

// converse runs a git that talks to the remote at url, and gives what it printed.
// ErrRemote, also where the remote is silent for too long.
func converse(ctx context.Context, url string, cmd *exec.Cmd) ([]byte, error) {
	return conversed(ctx, url, cmd, &tailed{max: maxSaid})
}

// conversed is converse, which leaves what git said to people in said.
func conversed(ctx context.Context, url string, cmd *exec.Cmd, said *tailed) ([]byte, error) {
	p, host := patienceOf(ctx), hostOf(url)
	out := &head{max: maxList}
	cmd.Stdout, cmd.Stderr = out, said
	cmd.WaitDelay = time.Second // a helper of git's may hold its output
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting git: %w", err)
	}
	ended, watched := make(chan struct{}), make(chan struct{})
	var silent atomic.Bool
	go func() {
		defer close(watched)
		if !p.listen(cmd.Process.Pid, host, ended) {
			silent.Store(true)
			kill(cmd.Process.Pid)
		}
	}()
	err := cmd.Wait()
	close(ended)
	<-watched
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case silent.Load():
		return nil, fmt.Errorf("%w: %s said nothing for %s", ErrRemote, host, p.End)
	case out.over:
		return nil, fmt.Errorf("%w: %s offers more than %d MiB of refs", ErrRemote, host, maxList>>20)
	case err != nil && notThere.Match(said.bytes) && !strings.HasPrefix(url, "file:"): // its disk may be away
		return nil, fmt.Errorf("%w: %w", ErrGone, gitError(cmd, err, said.bytes))
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrRemote, gitError(cmd, err, said.bytes))
	}
	return out.bytes, nil
}

// notThere is what git and servers say of a repository that is not there: it was deleted, moved
// or made private.
var notThere = lazyregexp.New(`(?m)^(?:fatal: repository '.*' not found|(?:remote|ERROR): Repository not found\.?|fatal: '.*' does not appear to be a git repository)$`)

// least is how many bytes a remote that is not silent sends in a second, on average over
// Patience.End: its progress alone is more, and what only keeps a connection open is less.
const least = 20

// listen reports false when the remote was silent for too long, and true when git ended.
func (p Patience) listen(pid int, host string, ended <-chan struct{}) bool {
	ticks := time.NewTicker(min(time.Second, p.Say/4))
	defer ticks.Stop()
	type state struct {
		at   time.Time
		read int64
		used time.Duration
	}
	var enough, some state
	var told time.Time
	for first := true; ; first = false {
		var now state
		select {
		case <-ended:
			return true
		case now.at = <-ticks.C:
		}
		now.read, now.used = watch.Moved(append(watch.Descendants(pid), pid))
		if first {
			enough, some, told = now, now, now.at
		}
		// One that ended takes its numbers along: then there was some work.
		if now.read != some.read {
			some, told = now, now.at
		}
		wanted := int64(least * p.End.Seconds())
		if grown := now.read - enough.read; grown < 0 || grown >= wanted || now.used < enough.used || now.used-enough.used > p.End/20 {
			enough = now
		}
		if now.at.Sub(enough.at) >= p.End {
			return false
		}
		if now.at.Sub(told) >= p.Say {
			told = now.at
			p.Waiting(host, now.at.Sub(some.at).Round(time.Second))
		}
	}
}

// kill ends git and what it started.
func kill(pid int) {
	for _, p := range append(watch.Descendants(pid), pid) {
		_ = syscall.Kill(p, syscall.SIGKILL) // one that ended meanwhile is fine
	}
}

// hostOf is the machine that a URL names, in each of git's ways to write one.
func hostOf(url string) string {
	if u, err := neturl.Parse(url); err == nil && u.Host != "" {
		return u.Host
	}
	if at, _, ok := strings.Cut(url, ":"); ok && !strings.Contains(at, "/") { // user@host:path
		return at[strings.LastIndexByte(at, '@')+1:]
	}
	return "the remote"
}

// head keeps what is written, and takes no more than max: git then ends.
type head struct {
	max   int
	bytes []byte
	over  bool
}

func (h *head) Write(p []byte) (int, error) {
	if len(h.bytes)+len(p) > h.max {
		h.over = true
		return 0, io.ErrShortWrite
	}
	h.bytes = append(h.bytes, p...)
	return len(p), nil
}

// tailed keeps what is written last.
type tailed struct {
	max   int
	bytes []byte
}

func (t *tailed) Write(p []byte) (int, error) {
	t.bytes = append(t.bytes, p...)
	if over := len(t.bytes) - t.max; over > t.max {
		t.bytes = bytes.Clone(t.bytes[over:])
	}
	return len(p), nil
}
