package link

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// substance demands code that ships, in a language that is asked for, and a test
// that exists after the change.
func (w *work) substance() error {
	if err := w.code(); err != nil {
		return err
	}
	if w.hasTests() || w.suite && w.writable() {
		return nil
	}
	if slices.ContainsFunc(w.files, func(f file) bool { return parts.Counts(f.Part, f.Rule) }) {
		return pipeline.Reject(schemas.NoTests, "tests are only deleted; %s", w.census())
	}
	return pipeline.Reject(schemas.NoTests, "%s", w.census())
}

// code finds the language of the code part: that of most changed lines; where
// only data ships (templates, tables), that of the tests which read it.
func (w *work) code() error {
	ships, others := false, map[string]bool{}
	for _, f := range w.files {
		if !parts.Ships(f.Path, f.Part, f.Rule) {
			continue
		}
		ships = true
		_, known := w.rules.Source(f.Path)
		if name := parts.LanguageOf(f.Path); !known && name != "" && f.Added+f.Removed > 0 { // a mode alone is in no language
			others[name] = true
		}
	}
	if !ships {
		return pipeline.Reject(schemas.NoCode, "%s", w.census())
	}
	w.language = w.mostLines(schemas.PartCode)
	if w.language == "" && len(others) == 0 {
		w.language = w.mostLines(schemas.PartTest)
	}
	switch {
	case w.language == "" && len(others) > 0:
		return pipeline.Reject(schemas.OtherLanguage, "%s", strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	case w.language != "" && !slices.Contains(w.config.Languages, w.language):
		return pipeline.Reject(schemas.OtherLanguage, "%s", w.language)
	case w.language == "" && w.hasTests():
		return pipeline.Reject(schemas.OtherLanguage, "data alone, and tests in no language that is known")
	}
	return nil
}

// writable reports whether a change has no file of the test part, and is in a language that suites
// can be written for.
func (w *work) writable() bool {
	_, ok := w.languages[w.language].(lang.Author)
	return ok && !slices.ContainsFunc(w.files, func(f file) bool { return f.Part == schemas.PartTest })
}

// untested refuses a change without tests whose manifest has hunks for tests: the start of one that
// wants a suite is its base.
func (w *work) untested() error {
	if !w.hasTests() && slices.ContainsFunc(w.files, func(f file) bool { return f.Part == schemas.PartTest || len(f.TestHunks) > 0 }) {
		return pipeline.Reject(schemas.NoTests, "%s", w.census())
	}
	return nil
}

func (w *work) hasTests() bool {
	return slices.ContainsFunc(w.files, func(f file) bool { return parts.Counts(f.Part, f.Rule) && f.Status != "D" })
}

// mostLines is the language with most changed lines in a part; "" for none.
func (w *work) mostLines(part schemas.Part) string {
	lines, most := map[string]int{}, ""
	for _, f := range w.files {
		if name, ok := w.rules.Source(f.Path); ok && f.Part == part {
			lines[name] += 1 + max(f.Added, 0) + max(f.Removed, 0) // a renamed file has no lines, and counts
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		if most == "" || lines[name] > lines[most] {
			most = name
		}
	}
	return most
}

// census says what the change is made of: "2 docs, 1 ci". Manifests of the test part are
// none of its tests.
func (w *work) census() string {
	count := map[schemas.Part]int{}
	var settings []string
	for _, f := range w.files {
		if f.Part == schemas.PartTest && !parts.Counts(f.Part, f.Rule) {
			settings = append(settings, f.Path)
			continue
		}
		count[f.Part]++
	}
	var words []string
	for _, p := range []schemas.Part{schemas.PartCode, schemas.PartTest, schemas.PartDocs, schemas.PartCI} {
		if n := count[p]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, p))
		}
	}
	if len(settings) > 0 {
		words = append(words, fmt.Sprintf("%d that only set up tests (%s)", len(settings), first(settings)))
	}
	if len(words) == 0 {
		return "no files"
	}
	return strings.Join(words, ", ")
}

// first names one of several.
func first(paths []string) string {
	if len(paths) > 1 {
		return paths[0] + " …"
	}
	return paths[0]
}

// readable refuses what the trees only point at: submodules that move with the
// change, and LFS pointers in the parts that are built and run.
func (w *work) readable() error {
	for _, f := range w.files {
		if f.OldMode == tree.ModeModule || f.NewMode == tree.ModeModule {
			return pipeline.Reject(schemas.Submodule, "%s", f.Path)
		}
		if f.Part != schemas.PartCode && f.Part != schemas.PartTest {
			continue
		}
		for _, side := range []struct {
			tree *tree.Tree
			path string
		}{{w.base, f.OldPath}, {w.base, f.Path}, {w.solution, f.Path}} {
			if e, ok := side.tree.Entry(side.path); ok && isPointer(e.Data) {
				return pipeline.Reject(schemas.LFSPointer, "%s", side.path)
			}
		}
	}
	return nil
}

// isPointer knows a Git LFS pointer file (git-lfs specification, version 1).
func isPointer(data []byte) bool {
	const most = 1024 // "pointer files must be less than 1024 bytes"
	return len(data) < most && bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/")) && bytes.Contains(data, []byte("\noid sha256:"))
}

// size counts the sources of the code part and holds them to the limit.
func (w *work) size() error {
	for _, f := range w.files {
		switch f.Part {
		case schemas.PartTest:
			w.sizes.TestFiles++
		case schemas.PartCode:
			if _, ok := w.rules.Source(f.Path); !ok {
				continue
			}
			w.sizes.SourceFiles++
			w.sizes.SourceHunks += len(f.hunks)
			w.sizes.SourceAdded += max(f.Added, 0)
			w.sizes.SourceRemoved += max(f.Removed, 0)
		}
	}
	if n := w.sizes.SourceAdded + w.sizes.SourceRemoved; w.config.MaxSourceLines > 0 && n > w.config.MaxSourceLines {
		return pipeline.Reject(schemas.TooLarge, "%d source lines, at most %d", n, w.config.MaxSourceLines)
	}
	return nil
}
