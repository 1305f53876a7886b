package policytest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	readmeLines = 140 // of the README: it is read before anything else
	proseWidth  = 100 // columns of a line of prose; tables and blocks of code may be longer
	cellWidth   = 240 // characters of a cell of a table: more than that is a list
)

var (
	cellEnd = regexp.MustCompile(`(^|[^\\])\|`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	inCode  = regexp.MustCompile("`[^`]*`")
	anchor  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	target  = regexp.MustCompile("(?m)^make ([a-z]+)(?:  |$)|`make ([a-z]+)")
	run     = regexp.MustCompile(`\bgo (?:run|test)(?: -[a-z]+)* (\./[a-z0-9_/]+)`)
)

// prose are the lines of a page outside of blocks of code, by number; lines of code are "".
func prose(text string) []string {
	lines, code := strings.Split(text, "\n"), false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			code = !code
		}
		if fence || code || strings.HasPrefix(line, "    ") && !strings.HasPrefix(strings.TrimSpace(line), "-") {
			lines[i] = ""
		}
	}
	return lines
}

// anchors are the names that a link to a heading of the page may have after #.
func anchors(text string) []string {
	var out []string
	for _, line := range prose(text) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			out = append(out, strings.ReplaceAll(anchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-"))
		}
	}
	return out
}

// TestPages: the README is short, prose of README and docs is narrow, no cell of a table is an
// essay, each link to a file or heading of the repository leads there, and so do make and go.
// The commands of benchmint itself are checked in cmd/benchmint, and run in e2e.
func TestPages(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("only %d pages found: %v", len(paths), err)
	}
	texts := map[string]string{}
	for _, p := range append(paths, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		texts[p] = string(b)
	}
	if n := strings.Count(texts[filepath.Join(root, "README.md")], "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, at most %d: move what not every reader needs to docs", n, readmeLines)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for p, text := range texts {
		name, err := filepath.Rel(root, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(string(makefile), "\n"+m[1]+m[2]+":") {
				t.Errorf("%s: make has no target %s", name, m[1]+m[2])
			}
		}
		for _, m := range run.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s: %s: %v", name, m[0], err)
			}
		}
		for i, line := range prose(text) {
			if n := utf8.RuneCountInString(line); n > proseWidth && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d columns, at most %d", name, i+1, n, proseWidth)
			}
			for _, cell := range cellEnd.Split(line, -1) {
				if n := utf8.RuneCountInString(cell); strings.HasPrefix(line, "|") && n > cellWidth {
					t.Errorf("%s:%d has a cell of %d characters, at most %d: write a list", name, i+1, n, cellWidth)
				}
			}
			for _, m := range link.FindAllStringSubmatch(inCode.ReplaceAllString(line, ""), -1) {
				file, heading, _ := strings.Cut(m[1], "#")
				if strings.Contains(file, "://") {
					continue
				}
				to := filepath.Join(filepath.Dir(p), file)
				if file == "" {
					to = p
				}
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s:%d: %v", name, i+1, err)
				} else if heading != "" && !slices.Contains(anchors(texts[to]), heading) {
					t.Errorf("%s:%d: %s has no heading %q", name, i+1, file, heading)
				}
			}
		}
	}
}
