package enginetest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// Log is the file in which all processes of a test note what they execute. A line
// is one append, written before anything is done, so that a kill loses none.
type Log struct {
	file *os.File
	pid  int

	mu     sync.Mutex
	read   int64           // how far the file was read for off
	off    map[string]bool // put off, and not begun since
	reader *os.File
}

// The kinds of line.
const (
	began  = "B"
	putOff = "D"
)

// OpenLog opens or makes it.
func OpenLog(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Log{file: f, reader: r, pid: os.Getpid(), off: map[string]bool{}}, nil
}

// Close closes it.
func (l *Log) Close() error {
	_ = l.reader.Close()
	return l.file.Close()
}

func (l *Log) write(kind, stage, key string) error {
	_, err := fmt.Fprintf(l.file, "%s %d %s %s\n", kind, l.pid, stage, key)
	return err
}

// Began notes an execution.
func (l *Log) Began(stage, key string) error { return l.write(began, stage, key) }

// First notes that filter puts the item off, unless some process did so before.
// Only what is put off now is kept in memory: it may not grow with the items.
func (l *Log) First(key string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.follow(); err != nil {
		return false, err
	}
	if l.off[key] {
		return false, nil
	}
	return true, l.write(putOff, Filter, key)
}

// follow reads what was appended since.
func (l *Log) follow() error {
	r := bufio.NewReader(io.NewSectionReader(l.reader, l.read, 1<<62))
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			return nil // a line that another process is about to end is read again
		}
		if err != nil {
			return err
		}
		l.read += int64(len(line))
		e, ok := parse(line)
		switch {
		case ok && e.kind == putOff:
			l.off[e.Key] = true
		case ok && e.Stage == Filter:
			delete(l.off, e.Key)
		}
	}
}

// Execution is a stage over a key.
type Execution struct{ Stage, Key string }

type entry struct {
	Execution
	kind string
	pid  string
}

func parse(line string) (entry, bool) {
	f := strings.Fields(line)
	if len(f) != 4 || f[0] != began && f[0] != putOff {
		return entry{}, false
	}
	return entry{Execution{f[2], f[3]}, f[0], f[1]}, true
}

// Executions counts what was begun, from an offset of the log on; next is its end.
// What was put off is not counted: it did nothing.
func Executions(path string, from int64) (n map[Execution]int, next int64, err error) {
	n = map[Execution]int{}
	next, err = each(path, from, func(e entry) {
		if e.kind == began {
			n[e.Execution]++
		}
	})
	return n, next, err
}

func each(path string, from int64, visit func(entry)) (next int64, err error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return from, err
	}
	defer f.Close()
	r := bufio.NewReader(io.NewSectionReader(f, from, 1<<62))
	next = from
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			return next, nil
		}
		if err != nil {
			return next, err
		}
		next += int64(len(line))
		e, ok := parse(line)
		if !ok {
			return next, fmt.Errorf("%s: line %q is torn", path, line)
		}
		visit(e)
	}
}
