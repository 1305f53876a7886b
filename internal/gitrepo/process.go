package gitrepo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/tree"
)

// coprocess is a git that answers questions for as long as it lives. One that
// died (git ends at the first object that it cannot read) is started again by
// the next question, so that a fault costs one answer.
type coprocess struct {
	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

// ask sends question and has read take the whole answer.
func (c *coprocess) ask(ctx context.Context, start func() *exec.Cmd, question string, read func(*bufio.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil {
		if err := c.start(start()); err != nil {
			return err
		}
	}
	// A cancelled question leaves an unread answer behind: the process is of no use then.
	process := c.cmd.Process
	kill := context.AfterFunc(ctx, func() { _ = process.Kill() })
	_, err := io.WriteString(c.in, question)
	if err == nil {
		err = read(c.out)
	}
	if !kill() {
		c.stop()
		return ctx.Err()
	}
	if err == nil || errors.Is(err, errNoAnswer) || errors.Is(err, errTooLarge) {
		return err // said in full: the process is sound
	}
	return c.autopsy(err)
}

// autopsy says what an answer that broke off means. git itself ends with an
// exit code at an object that it cannot read; everything else is a fault of the
// machine or of ours.
func (c *coprocess) autopsy(err error) error {
	cmd := c.cmd
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) {
		c.stop()
		return fmt.Errorf("reading from %s: %w", cmd.Args[len(cmd.Args)-1], err)
	}
	_ = c.in.Close()
	died := cmd.Wait()
	c.cmd = nil
	err = gitError(cmd, cmp.Or(died, err), c.stderr.Bytes())
	if cmd.ProcessState.Exited() && cmd.ProcessState.ExitCode() == 128 && !starved.Match(c.stderr.Bytes()) {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return err
}

// starved are git's words where the machine, and not the repository, lacks something:
// it ends with the same exit code.
var starved = lazyregexp.New(`(?i)out of memory|cannot allocate memory|too many open files|input/output error|no space left on device|permission denied|resource temporarily unavailable|stale file handle`)

// errNoAnswer is an answer that says that there is none.
var errNoAnswer = fmt.Errorf("%w", ErrMissing)

// errTooLarge is an object that was asked for its size only.
var errTooLarge = fmt.Errorf("%w", tree.ErrTooLarge)

func (c *coprocess) start(cmd *exec.Cmd) error {
	c.stderr.Reset()
	cmd.Stderr = &c.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting git: %w", err)
	}
	c.cmd, c.in, c.out = cmd, in, bufio.NewReaderSize(out, 1<<16)
	return nil
}

// stop kills the process: it may be in the middle of an answer that nobody reads.
func (c *coprocess) stop() {
	if c.cmd == nil {
		return
	}
	_ = c.in.Close()
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it was killed: its exit code says nothing
	c.cmd = nil
}

func (c *coprocess) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
}

// differ is a git diff-tree that compares pairs of trees.
type differ struct {
	coprocess
	view string
	args []string
}

// mark ends an answer: diff-tree repeats a line that is no object ID and flushes.
// No line of a patch and no record of -z output begins with a full stop.
const mark = ".\n"

// diff has read take the difference from one tree to another; read ends at mark.
func (d *differ) diff(ctx context.Context, from, to string, read func(*bufio.Reader) error) error {
	header := from + " " + to + "\n"
	return d.ask(ctx, func() *exec.Cmd {
		return command(context.Background(), d.view, append([]string{"diff-tree", "--stdin", "-r"}, d.args...)...)
	}, header+mark, func(out *bufio.Reader) error {
		// A tree that is not there is passed over, with a line on standard error.
		if first, err := out.Peek(1); err == nil && first[0] == mark[0] {
			_, err := out.Discard(len(mark))
			return cmp.Or(err, fmt.Errorf("%w: tree %s or %s", errNoAnswer, from, to))
		}
		got := make([]byte, len(header)) // ends in a newline or, by version, in NUL
		if _, err := io.ReadFull(out, got); err != nil {
			return err
		}
		if !strings.HasPrefix(header, string(got[:len(got)-1])) {
			return fmt.Errorf("diff-tree answers %q to %q", got, header)
		}
		return read(out)
	})
}

// objects is a git cat-file that gives objects by ID.
type objects struct {
	coprocess
	view string
	of   *Origin
	kept *blobs
	mark string // random, so that no content holds it
}

// blobs are blobs that are remembered: neighbouring trees share nearly all of them. The
// repositories of a Shelf share the room, and no blob: what one lacks it must not have
// by chance.
type blobs struct {
	mu   sync.Mutex
	kept map[blobOf][]byte
	size int
}

type blobOf struct {
	origin *Origin
	id     string
}

// keep bounds the blobs that are remembered, in bytes.
const keep = 256 << 20

func (b *blobs) get(id blobOf) ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.kept[id]
	return data, ok
}

func (b *blobs) put(id blobOf, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil || b.size+len(data) > keep {
		b.kept, b.size = map[blobOf][]byte{}, 0
	}
	b.kept[id] = data
	b.size += len(data)
}

// blob is a blob that is remembered; its bytes must not be changed.
func (o *objects) blob(ctx context.Context, id string) ([]byte, error) {
	key := blobOf{o.of, id}
	if data, ok := o.kept.get(key); ok {
		return data, nil
	}
	data, err := o.get(ctx, "blob", id)
	if err == nil {
		o.kept.put(key, data)
	}
	return data, err
}

// get reads one object of a kind, once its size is known. ErrMissing, tree.ErrTooLarge.
func (o *objects) get(ctx context.Context, kind, name string) ([]byte, error) {
	var data []byte
	err := o.ask(ctx, o.batch, "info "+name+"\n", func(out *bufio.Reader) error {
		_, got, size, err := readInfo(out, name)
		if err != nil {
			return err
		}
		if size > tree.MaxFile {
			return fmt.Errorf("%w: %s %s has %d bytes, and %d MiB are read", errTooLarge, got, name, size, tree.MaxFile>>20)
		}
		if _, err := io.WriteString(o.in, "contents "+name+"\ninfo "+o.mark+"\n"); err != nil {
			return err
		}
		_, got, size, err = readInfo(out, name)
		if errors.Is(err, errNoAnswer) {
			_, _, _, end := readInfo(out, o.mark)
			if !errors.Is(end, errNoAnswer) {
				return end
			}
		}
		if err != nil {
			return err
		}
		if data, err = readContent(out, size, o.end()); err != nil {
			return err
		}
		if got != kind {
			return fmt.Errorf("%w: %s is a %s, not a %s", errNoAnswer, name, got, kind)
		}
		return nil
	})
	return data, err
}

// id resolves a name like <commit>^{tree}. ErrMissing.
func (o *objects) id(ctx context.Context, name string) (string, error) {
	var id string
	err := o.ask(ctx, o.batch, "info "+name+"\n", func(out *bufio.Reader) (err error) {
		id, _, _, err = readInfo(out, name)
		return err
	})
	return id, err
}

// sizes gives the size of every object in bytes, in order, -1 of one that is missing.
// The first error of each ends it.
func (o *objects) sizes(ctx context.Context, ids []string, each func(id string, size int64) error) error {
	const chunk = 400 // questions and answers fit into the pipes: neither side waits for the other
	for len(ids) > 0 {
		some := ids[:min(chunk, len(ids))]
		ids = ids[len(some):]
		var question strings.Builder
		for _, id := range some {
			question.WriteString("info " + id + "\n")
		}
		var refused error
		err := o.ask(ctx, o.batch, question.String(), func(out *bufio.Reader) error {
			refused = nil
			for _, id := range some {
				_, _, size, err := readInfo(out, id)
				if errors.Is(err, errNoAnswer) {
					size = -1
				} else if err != nil {
					return err
				}
				if refused == nil { // the other answers are read all the same
					refused = each(id, int64(size))
				}
			}
			return nil
		})
		if err := cmp.Or(err, refused); err != nil {
			return err
		}
	}
	return nil
}

// end is what follows a content: a newline, and the answer that there is no mark.
func (o *objects) end() []byte { return []byte("\n" + o.mark + " missing\n") }

// readContent reads an object's bytes and what follows them. git gives a loose blob as it
// is, whatever size its header has promised: without the end, who waits for the rest of
// one that is shorter waits for ever.
func readContent(out *bufio.Reader, size int, end []byte) ([]byte, error) {
	data := make([]byte, size+len(end))
	n := 0
	for n < len(data) && (n < len(end) || !bytes.HasSuffix(data[:n], end)) {
		m, err := out.Read(data[n:])
		if n += m; err != nil && n < len(data) {
			return nil, cmp.Or(err, io.ErrUnexpectedEOF)
		}
	}
	if bytes.HasSuffix(data[:n], end) {
		if n == len(data) {
			return data[:size:size], nil
		}
		return nil, fmt.Errorf("%w: an object has %d bytes, and its header says %d", errNoAnswer, n-len(end), size)
	}
	for tail := data[size:]; !bytes.Equal(tail, end); {
		b, err := out.ReadByte()
		if err != nil {
			return nil, err
		}
		tail = append(tail[1:], b)
	}
	return nil, fmt.Errorf("%w: an object has more than the %d bytes that its header says", errNoAnswer, size)
}

func (o *objects) batch() *exec.Cmd {
	return command(context.Background(), o.view, "cat-file", "--batch-command")
}

// readInfo reads "<id> <type> <size>" or "<name> missing".
func readInfo(out *bufio.Reader, name string) (id, kind string, size int, err error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return "", "", 0, err
	}
	fields := strings.Fields(strings.TrimPrefix(line, name+" "))
	if len(fields) == 1 {
		return "", "", 0, fmt.Errorf("%w: %s is %s", errNoAnswer, name, fields[0])
	}
	all := strings.Fields(line)
	if len(all) != 3 {
		return "", "", 0, fmt.Errorf("cat-file answers %q", line)
	}
	size, err = strconv.Atoi(all[2])
	return all[0], all[1], size, err
}
