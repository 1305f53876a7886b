package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNotYet is a repository whose line has no commit before a day.
var ErrNotYet = errors.New("no commit is that old")

// Before moves the source back to how it stood before a time: its head is the last commit of the
// first-parent line, from the newest down, whose committer date is before it, and only tags that
// this commit holds are left. That is what a bare clone has that is cut by hand:
//
//	git rev-list -1 --first-parent --before=TIME HEAD
//	git tag --merged THAT
//
// NOTE: a commit with a wrong date counts by that date, and only where it would be the head:
// one dated later in the middle of the line stays on it. When a tag was set does not count: git
// knows that of annotated tags alone.
//
// A URL is fetched for it. Before is called once, before anything else. ErrNotYet, ErrRemote.
func (o *Origin) Before(ctx context.Context, day time.Time) error {
	if err := o.fetch(ctx, o.info.Head); err != nil {
		return err
	}
	in := "--git-dir=" + o.found.common
	out, err := output(inside(ctx, o.found.common, in, "rev-list", "-1", "--first-parent", "--before="+beforeSecond(day), o.info.Head, "--"))
	if err != nil {
		return fmt.Errorf("reading the history of %s: %w", o.source, cmp.Or(ctx.Err(), err))
	}
	head := strings.TrimSpace(string(out))
	if head == "" {
		return fmt.Errorf("%s: %w: before %s", o.source, ErrNotYet, day.Format(time.DateOnly))
	}
	merged := map[ref]bool{}
	if err := eachRef(ctx, o.found.common, func(id, name string) { merged[ref{id, name}] = true }, "--merged="+head, tagRefs); err != nil {
		return fmt.Errorf("reading the tags of %s: %w", o.source, cmp.Or(ctx.Err(), err))
	}
	o.found.tags = slices.DeleteFunc(slices.Clone(o.found.tags), func(t ref) bool { return !merged[t] })
	o.found.head, o.info.Head = head, head
	if o.line, o.info.Root, err = o.readRoot(ctx, head); err != nil {
		return fmt.Errorf("reading the history of %s: %w", o.source, cmp.Or(ctx.Err(), err))
	}
	return nil
}

// beforeSecond is the last second before a time, as git reads it: its --before includes what it
// is given.
func beforeSecond(t time.Time) string { return strconv.FormatInt(t.Unix()-1, 10) + " +0000" }
