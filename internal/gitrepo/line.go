package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// entry is one commit of the first-parent line, without its body and its diff.
type entry struct {
	commit, tree string
	parents      []string
	at           time.Time
	subject      string
	author       string // address
	number       int
	from         schemas.NumberSource
}

// readLine reads the whole first-parent line from HEAD, newest first. It needs
// no tree and no blob, so it works in every partial clone.
func (r *Repo) readLine(ctx context.Context) ([]entry, error) {
	var line []entry
	err := r.walk(ctx, []string{"%H", "%T", "%P", "%ct", "%ae", "%s"}, func(f []string) bool {
		seconds, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			seconds = 0 // a commit without a readable date; git itself shows 1970
		}
		e := entry{commit: f[0], tree: f[1], parents: strings.Fields(f[2]), at: time.Unix(seconds, 0).UTC(), author: text(f[4]), subject: text(f[5])}
		e.number, e.from = SubjectNumber(e.subject)
		line = append(line, e)
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(line) == 0 {
		return nil, ErrNoRepo
	}
	keepOldest(line)
	return line, nil
}

// keepOldest leaves each number to the oldest commit that carries it: two
// commits must not share an ID, and an ID must not change hands when a later
// commit names the same number.
func keepOldest(line []entry) {
	owned := map[int]bool{}
	for i := len(line) - 1; i >= 0; i-- {
		if n := line[i].number; n != 0 && owned[n] {
			line[i].number, line[i].from = 0, schemas.NumberNone
		} else if n != 0 {
			owned[n] = true
		}
	}
}

// walk streams fields of the first-parent line until visit says no.
func (r *Repo) walk(ctx context.Context, fields []string, visit func([]string) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := command(ctx, r.view, "log", "-z", "--first-parent", "--no-show-signature", "--no-notes", "--no-mailmap", "--no-decorate",
		"--no-color", "--encoding=UTF-8", "--format=tformat:"+strings.Join(fields, "%x00"), r.info.Head, "--")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting git: %w", err)
	}
	stopped := readFields(bufio.NewReaderSize(pipe, 1<<16), len(fields), visit)
	if stopped {
		cancel()
	}
	if died := cmd.Wait(); !stopped && died != nil {
		return gitError(cmd, died, []byte(stderr.String()))
	}
	return nil
}

// Bodies are the messages of the newest n commits of the line without their subjects, newest first.
func (r *Repo) Bodies(ctx context.Context, n int) ([]string, error) {
	var out []string
	err := r.walk(ctx, []string{"%b"}, func(f []string) bool {
		out = append(out, strings.TrimRight(text(f[0]), "\n"))
		return len(out) < n
	})
	return out, err
}

// BranchBody is the message, without its subject, of the first commit that a merge of the line brought in; "" of a commit
// that is not a merge, and where the branch is not there.
func (r *Repo) BranchBody(ctx context.Context, l Landed) (string, error) {
	if len(l.Parents) < 2 {
		return "", nil
	}
	out, err := output(command(ctx, r.view, "log", "-z", "--reverse", "--no-merges", "--no-show-signature", "--no-notes", "--no-color",
		"--encoding=UTF-8", "--format=tformat:%b", l.Parents[0]+".."+l.Parents[1], "--"))
	if err != nil {
		return "", ctx.Err() // a clone may lack it
	}
	body, _, _ := strings.Cut(string(out[:min(len(out), maxField)]), "\x00")
	return strings.TrimSpace(text(body)), nil
}

func readFields(in *bufio.Reader, n int, visit func([]string) bool) (stopped bool) {
	for {
		fields := make([]string, n)
		for i := range fields {
			s, err := readField(in)
			if errors.Is(err, io.EOF) && i == 0 && s == "" {
				return false
			}
			if err != nil {
				return false // git died: its exit code says more
			}
			fields[i] = s
		}
		if !visit(fields) {
			return true
		}
	}
}

// maxField is how much of a field is kept, in bytes: a message may be as long as its
// author likes.
const maxField = 4 << 20

// readField reads up to NUL, and keeps the beginning of what is longer than maxField.
func readField(in *bufio.Reader) (string, error) {
	var field []byte
	for {
		part, err := in.ReadSlice(0)
		field = append(field, part[:min(len(part), maxField+1-len(field))]...)
		if err == nil {
			return strings.TrimSuffix(string(field[:min(len(field), maxField)]), "\x00"), nil
		}
		if err != bufio.ErrBufferFull { //nolint:errorlint // ReadSlice gives it unwrapped
			return string(field), err
		}
	}
}

// text makes a record's string of what git printed: valid UTF-8, whatever the
// commit says of its encoding.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

var (
	inSubject = lazyregexp.New(`\(#([1-9][0-9]{0,8})\)`)
	ofMerge   = lazyregexp.New(`^Merge pull request #([1-9][0-9]{0,8})\b`)
	// reverted is what a revert quotes: the numbers in it are another change's.
	reverted = lazyregexp.New(`^(?:Revert|Reapply) ".*"`)
)

// SubjectNumber reads a pull request's number from a commit's subject: the last
// "(#N)" (squash), or "Merge pull request #N".
func SubjectNumber(subject string) (int, schemas.NumberSource) {
	if m := ofMerge.FindStringSubmatch(subject); m != nil {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			return n, schemas.NumberMerge
		}
	}
	all := inSubject.FindAllStringSubmatch(reverted.ReplaceAllString(subject, ""), -1)
	if len(all) == 0 {
		return 0, schemas.NumberNone
	}
	n, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		return 0, schemas.NumberNone
	}
	return n, schemas.NumberSubject
}
