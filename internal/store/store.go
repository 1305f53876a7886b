// Package store is the plain store of a single machine: one file a step, written
// whole or not at all, and the blobs beside them.
//
// It never holds a lock for readers: status and show work beside a run.
package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/schemas"
)

// ErrLocked means that another run works on the store.
var ErrLocked = errors.New("another run works on this store")

// Store is a directory.
type Store struct {
	dir   string
	Blobs *blob.Store
	lock  *os.File
}

// Open opens a store, which is made where it is missing.
func Open(dir string) (*Store, error) {
	blobs, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "steps"), 0o755); err != nil {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	return &Store{dir: dir, Blobs: blobs}, nil
}

// Lock makes this process the only one that runs on the store. ErrLocked.
func (s *Store) Lock() error {
	var err error
	s.lock, err = lockFile(s.dir)
	return err
}

// lockFile takes the lock that lies beside a store.
func lockFile(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking store: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", dir, ErrLocked)
		}
		return nil, fmt.Errorf("locking store: %w", err)
	}
	return f, nil
}

// Close gives the lock back.
func (s *Store) Close() error {
	if s.lock == nil {
		return nil
	}
	err := s.lock.Close()
	s.lock = nil
	return err
}

// Dir is where the store lives.
func (s *Store) Dir() string { return s.dir }

func (s *Store) path(stage, key string) string {
	return filepath.Join(s.dir, "steps", stage, url.PathEscape(key)+".json")
}

// Step reads one step.
func (s *Store) Step(stage, key string) (schemas.Step, bool, error) {
	return read(s.path(stage, key))
}

func read(path string) (schemas.Step, bool, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return schemas.Step{}, false, nil
	}
	if err != nil {
		return schemas.Step{}, false, err
	}
	var step schemas.Step
	if err := json.Unmarshal(b, &step); err != nil {
		return schemas.Step{}, false, fmt.Errorf("%s: %w", path, err)
	}
	return step, true, nil
}

// Put writes one step, whole or not at all.
func (s *Store) Put(step schemas.Step) error {
	b, err := json.MarshalIndent(step, "", " ")
	if err != nil {
		return err
	}
	return blob.WriteFile(s.path(step.Stage, step.Key), append(b, '\n'))
}

// Steps are all steps of a stage, by key.
func (s *Store) Steps(stage string) ([]schemas.Step, error) {
	dir := filepath.Join(s.dir, "steps", stage)
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []schemas.Step
	for _, e := range names {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue // a temporary file of a killed run
		}
		step, ok, err := read(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, step)
		}
	}
	slices.SortFunc(out, func(a, b schemas.Step) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// Ladder is every step of one key, in the order of stages.
func (s *Store) Ladder(stages []string, key string) ([]schemas.Step, error) {
	var out []schemas.Step
	for _, stage := range stages {
		step, ok, err := s.Step(stage, key)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, step)
		}
	}
	return out, nil
}

const fixedFile = "fixed.json"

// Fix remembers a choice at first use and returns what holds: a store never
// mixes results of two sandboxes.
func (s *Store) Fix(name, value string) (string, error) {
	path := filepath.Join(s.dir, fixedFile)
	fixed := map[string]string{}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	default:
		if err := json.Unmarshal(b, &fixed); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	if old, ok := fixed[name]; ok || value == "" {
		return old, nil
	}
	fixed[name] = value
	if b, err = json.MarshalIndent(fixed, "", " "); err != nil {
		return "", err
	}
	return value, blob.WriteFile(path, append(b, '\n'))
}
