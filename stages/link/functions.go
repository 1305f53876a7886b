package link

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/functions"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// functions says what the code part does to functions, and holds it to ModifiesOnly.
func (w *work) functions() error {
	var pairs []functions.Pair
	for _, f := range w.files {
		name, ok := w.rules.Source(f.Path)
		if f.Part != schemas.PartCode || !ok {
			continue
		}
		language := w.languages[name].Masker()
		var p functions.Pair
		if f.Status != "A" {
			p.Before = source(w.base, cmp.Or(f.OldPath, f.Path), language)
		}
		if f.Status != "D" {
			p.After = source(w.solution, f.Path, language)
		}
		if p.Before != nil || p.After != nil {
			pairs = append(pairs, p)
		}
	}
	w.edits = functions.Diff(pairs)
	if !w.config.ModifiesOnly || w.any {
		return nil
	}
	// What is unread comes first: a function may have come out of it, or gone into it.
	for _, end := range []struct {
		reason schemas.Reason
		names  []string
	}{{schemas.UnreadSource, w.edits.Unread}, {schemas.AddsFunctions, w.edits.Added}, {schemas.DropsFunctions, w.edits.Removed}} {
		if len(end.names) > 0 {
			return pipeline.Reject(end.reason, "%s", some(end.names))
		}
	}
	return nil
}

// source is a file of a tree; nil for what is no file (a symlink, a submodule). Its
// path is as records hold it.
func source(t *tree.Tree, path string, language mask.Language) *functions.Source {
	e, ok := t.Entry(path)
	if !ok || e.Mode == tree.ModeSymlink || e.Mode == tree.ModeModule {
		return nil
	}
	return &functions.Source{Path: schemas.RecordPath(path), Language: language, Data: e.Data}
}

// some counts names and gives up to three.
func some(names []string) string {
	const most = 3
	more := ""
	if len(names) > most {
		more = ", …"
	}
	return fmt.Sprintf("%d: %s%s", len(names), strings.Join(names[:min(most, len(names))], ", "), more)
}
