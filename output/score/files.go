package score

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// The files of an evaluation.
const (
	ReportFile  = "report.json"   // of SWE-bench's harness; report.MODEL.json where there are several models
	ResultsFile = "results.jsonl" // a Line each
	RESQFile    = "resq.json"     // RES-Q's results; resq.MODEL.json
	MetricsFile = "metrics.json"  // Figures
)

// Write writes the files into a folder that is there. Each is replaced whole.
func (e Evaluation) Write(dir string) error {
	figures := e.Figures()
	files := map[string]any{MetricsFile: figures}
	for _, m := range figures.Models {
		name := func(file string) string {
			if len(figures.Models) == 1 {
				return file
			}
			stem, ext, _ := strings.Cut(file, ".")
			return stem + "." + schemas.ModelSlug(m.Model) + "." + ext
		}
		files[name(ReportFile)] = e.SWEBenchOf(m)
		files[name(RESQFile)] = e.RESQOf(m.Model)
	}
	for _, name := range sortedKeys(files) {
		b, err := schemas.Canonical(files[name])
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		if err := replace(filepath.Join(dir, name), append(b, '\n')); err != nil {
			return err
		}
	}
	var lines []byte
	for _, l := range e.Lines() {
		b, err := schemas.Canonical(l)
		if err != nil {
			return fmt.Errorf("writing %s: %w", ResultsFile, err)
		}
		lines = append(append(lines, b...), '\n')
	}
	if err := replace(filepath.Join(dir, ResultsFile), lines); err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, TablesFile), e.tables()); err != nil {
		return err
	}
	review, err := e.review()
	if err != nil {
		return fmt.Errorf("writing %s: %w", ReviewFile, err)
	}
	return replace(filepath.Join(dir, ReviewFile), review)
}

// replace writes a file beside the old one, and puts it in its place.
func replace(name string, b []byte) error {
	tmp := name + ".new"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}
