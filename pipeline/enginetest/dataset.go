package enginetest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// The files of a dataset.
const (
	rowsFile = "rows.txt"
	endsFile = "ends.txt"
)

// Dataset is what an export wrote, or what it has to write.
type Dataset struct {
	Rows, Rejected, Failed, Deferred int
	RowsDigest, EndsDigest           string
}

// sums counts and digests lines on their way.
type sums struct {
	rows, ends hash.Hash
	to         [2]io.Writer
	d          Dataset
}

func newSums(rows, ends io.Writer) *sums {
	s := &sums{rows: sha256.New(), ends: sha256.New()}
	s.to = [2]io.Writer{io.MultiWriter(rows, s.rows), io.MultiWriter(ends, s.ends)}
	return s
}

func (s *sums) row(i Item) error {
	s.d.Rows++
	_, err := fmt.Fprintf(s.to[0], "%s %s\n", i.Name, i.Trail)
	return err
}

func (s *sums) end(key, stage string, state schemas.StepState, reason schemas.Reason) error {
	switch state {
	case schemas.StepRejected:
		s.d.Rejected++
	case schemas.StepFailed:
		s.d.Failed++
	case schemas.StepDeferred:
		s.d.Deferred++
	}
	_, err := fmt.Fprintf(s.to[1], "%s %s %s %s\n", key, stage, state, reason)
	return err
}

func (s *sums) dataset() Dataset {
	s.d.RowsDigest = hex.EncodeToString(s.rows.Sum(nil))
	s.d.EndsDigest = hex.EncodeToString(s.ends.Sum(nil))
	return s.d
}

// Want is the dataset by a plain loop over the configuration, without any engine.
func (c Config) Want() Dataset {
	s := newSums(io.Discard, io.Discard)
	poison := c.poisoned()
	for n := range c.Sources {
		source := c.source(n)
		for m := range c.Fan {
			i := c.item(source.Name, m)
			stage, state, reason := c.end(i.Name, poison)
			if state != schemas.StepDone {
				_ = s.end(i.Name, stage, state, reason) // io.Discard takes all
				continue
			}
			if i.Trail = c.trail(Filter, i.Trail); c.rough(i.Name) {
				i.Trail = c.trail(Refine, i.Trail)
			}
			i = c.joined(i, c.token(c.share(i.Name)))
			i.Trail = c.trail(Work, i.Trail)
			_ = s.row(i)
		}
	}
	return s.dataset()
}

// end is where an item ends, and how.
func (c Config) end(key, poison string) (string, schemas.StepState, schemas.Reason) {
	switch {
	case c.rejected(key):
		return Filter, schemas.StepRejected, schemas.NoCode
	case c.bad(c.share(key)):
		return Join, schemas.StepRejected, schemas.NoBuild
	case key == poison && c.Poison == PoisonExit:
		return Work, schemas.StepFailed, schemas.Crashed
	case key == poison, c.failed(key):
		return Work, schemas.StepFailed, ""
	}
	return Export, schemas.StepDone, ""
}

// Expected are the executions of a first run that nothing disturbs. Those that
// fail are left out: each run repeats them.
func (c Config) Expected() map[Execution]int {
	out := map[Execution]int{}
	poison := c.poisoned()
	for n := range c.Sources {
		source := c.source(n)
		out[Execution{Expand, source.Name}] = 1
		for m := range c.Fan {
			key := c.item(source.Name, m).Name
			out[Execution{Filter, key}] = 1
			if c.rejected(key) {
				continue
			}
			if c.rough(key) {
				out[Execution{Refine, key}] = 1
			}
			out[Execution{Build, c.share(key)}] = 1
			if c.bad(c.share(key)) {
				continue
			}
			out[Execution{Join, key}] = 1
			if key != poison && !c.failed(key) {
				out[Execution{Work, key}] = 1
			}
		}
	}
	return out
}

type export struct{ stages }

// Run writes the dataset whole or not at all.
func (s export) Run(_ context.Context, in iter.Seq2[Item, error], ended pipeline.Ended) (err error) {
	tmp := s.w.Dir + ".tmp"
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
		return err
	}
	rows, err := newFile(filepath.Join(tmp, rowsFile))
	if err != nil {
		return err
	}
	ends, err := newFile(filepath.Join(tmp, endsFile))
	if err != nil {
		return errors.Join(err, rows.close())
	}
	sums := newSums(rows, ends)
	err = errors.Join(s.write(sums, in, ended), rows.close(), ends.close())
	if err != nil {
		return err
	}
	if err := os.RemoveAll(s.w.Dir); err != nil {
		return err
	}
	return os.Rename(tmp, s.w.Dir)
}

func (s export) write(sums *sums, in iter.Seq2[Item, error], ended pipeline.Ended) error {
	last := ""
	for i, err := range in {
		if err != nil {
			return err
		}
		if i.Name <= last {
			return fmt.Errorf("%s came after %s", i.Name, last)
		}
		last = i.Name
		if err := sums.row(i); err != nil {
			return err
		}
	}
	for e, err := range ended.Steps {
		if err != nil {
			return err
		}
		if err := sums.end(e.Key, e.Stage, e.State, e.Reason); err != nil {
			return err
		}
	}
	return nil
}

type file struct {
	*bufio.Writer
	f *os.File
}

func newFile(path string) (file, error) {
	f, err := os.Create(path)
	return file{bufio.NewWriter(f), f}, err
}

func (f file) close() error {
	return errors.Join(f.Flush(), f.f.Sync(), f.f.Close())
}

// ReadDataset reads what an export wrote.
func ReadDataset(dir string) (Dataset, error) {
	var d Dataset
	var err error
	d.RowsDigest, err = lines(filepath.Join(dir, rowsFile), func([]string) { d.Rows++ })
	if err != nil {
		return d, err
	}
	d.EndsDigest, err = lines(filepath.Join(dir, endsFile), func(f []string) {
		switch schemas.StepState(f[2]) {
		case schemas.StepRejected:
			d.Rejected++
		case schemas.StepFailed:
			d.Failed++
		case schemas.StepDeferred:
			d.Deferred++
		}
	})
	return d, err
}

func lines(path string, visit func(fields []string)) (digest string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	scan := bufio.NewScanner(io.TeeReader(f, sum))
	for scan.Scan() {
		visit(append(strings.Fields(scan.Text()), "", "", ""))
	}
	return hex.EncodeToString(sum.Sum(nil)), scan.Err()
}
