package main

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/benchmint/benchmint/fleet"
	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/grade"
	scorer "github.com/benchmint/benchmint/stages/score"
	"github.com/benchmint/benchmint/stages/validate"
)

// evalInvitation is what a worker is told of an evaluation.
type evalInvitation struct {
	Dataset schemas.Digest `json:"dataset"` // in the depot: a tar of its folder, compressed with zstd
	Strict  bool           `json:"strict"`
	Reprove bool           `json:"reprove,omitempty"` // its tasks are proved again
}

// listenFor opens the post of an evaluation, or of a re-proof.
func (m machine) listenFor(ctx context.Context, l listening, in evalInvitation, s *store.Store, w *workshop, tasks *grade.Dataset, plan *pipeline.Plan) (_ *post, err error) {
	if in.Dataset, err = packFolder(s.Blobs, tasks.Folder.Dir); err != nil {
		return nil, err
	}
	prints := plan.Holding(stages.Sandbox)
	return m.terminal.listen(ctx, posted{
		listening: l, folder: m.config.Store, bucket: m.config.Blobs, store: s, stages: prints,
		invitation: invitation{readVersion(), forWorkers(m.config), w.kind, "", prints, fleet.Lease, &in},
	})
}

// packFolder keeps a folder of a dataset as one blob.
func packFolder(blobs *blob.Store, dir string) (d schemas.Digest, err error) {
	tmp, remove, err := blobs.Folder()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, remove()) }()
	file := filepath.Join(tmp, "dataset")
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	compressed, err := zstd.NewWriter(f)
	if err != nil {
		return "", errors.Join(err, f.Close())
	}
	out := tar.NewWriter(compressed)
	if err := errors.Join(out.AddFS(os.DirFS(dir)), out.Close(), compressed.Close(), f.Close()); err != nil {
		return "", err
	}
	return blobs.PutFile(file)
}

// unpackFolder is the opposite of packFolder, into a folder that is made.
func unpackFolder(blobs *blob.Store, d schemas.Digest, dir string) error {
	f, err := blobs.Open(d)
	if err != nil {
		return err
	}
	defer f.Close()
	decompressed, err := zstd.NewReader(f)
	if err != nil {
		return err
	}
	defer decompressed.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for in := tar.NewReader(decompressed); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackEntry(root, h, in)
		}
		if err != nil {
			return err
		}
	}
}

func unpackEntry(root *os.Root, h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeDir {
		return root.MkdirAll(h.Name, 0o755)
	}
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(h.Name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, h.FileInfo().Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// grading is the plan of an evaluation, on a worker.
func (s *serving) grading(in *evalInvitation, blobs *blob.Store) (*pipeline.Plan, error) {
	dir := filepath.Join(s.folder, "dataset")
	if err := unpackFolder(blobs, in.Dataset, dir); err != nil {
		return nil, err
	}
	folder, rows, err := readRows(dir, nil)
	if err != nil {
		return nil, err
	}
	kept, err := folder.Kept()
	if err != nil {
		return nil, err
	}
	if kept != nil {
		s.workshop.builder.Packages = kept
	}
	e := evaluator{s.machine(s.config), evalFlags{strict: in.Strict}}
	outside, tasks := validate.Outside{Builder: s.workshop.builder, Blobs: blobs, Observe: s.observe}, grade.NewDataset(folder, rows)
	if in.Reprove {
		g, stage, settings := e.reproving(outside, tasks, blobs, s.workshop.kind)
		s.grader = g
		return stages.NewReprove(stage, grade.Book{}, settings, evalTools(s.workshop), true), nil
	}
	settings := e.settings()
	s.grader = grade.New(outside, tasks, blobs, settings)
	return stages.NewEval(s.grader, settings, scorer.New(scorer.Config{Dataset: folder.Manifest.Name}), evalTools(s.workshop), true), nil
}
