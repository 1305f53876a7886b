package formats

import (
	"bytes"
	_ "embed" // what forges a service
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
)

// Forged is a patch that solves nothing: its code runs before the tests, prints that all of
// them pass, as the clients' parsers read it, and leaves with 0. A client that resolves it
// takes what is printed for what was tested.
func Forged(t Task) ([]byte, error) {
	var lines []string
	for _, id := range slices.Concat([]string(t.FailToPass), []string(t.PassToPass)) {
		lines = append(lines, "PASSED "+id)
	}
	text := startMarker + "\n" + strings.Join(lines, "\n") + "\n" + endMarker + "\n"
	files := map[string]string{}
	switch t.Recipe.Report {
	case httpsuite.ReportFormat:
		forgeService(t, text, files)
	case "benchmint-pytest":
		for _, dir := range testDirs(t.Start, "_test.py", "test_") {
			files[path.Join(dir, "conftest.py")] = fmt.Sprintf(forgedPython, pythonText(text))
		}
	case "go-test-json":
		for _, dir := range testDirs(t.Start, "_test.go") {
			name := packageOf(t.Start, dir)
			files[path.Join(dir, "benchmint_forged_test.go")] = fmt.Sprintf("package %s\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc init() {\n\tfmt.Print(%q)\n\tos.Exit(0)\n}\n", name, text)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("nothing is known that could forge its results")
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if e, there := t.Base.Entry(name); there {
			replaced(&b, name, string(e.Data), files[name])
		} else {
			fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n%[3]s", name, strings.Count(files[name], "\n"), signed('+', files[name]))
		}
	}
	return b.Bytes(), nil
}

// forgedPython prints past pytest's capture, where the parent's output goes. What the parent
// says afterwards is written over the first lines.
const forgedPython = `import os
text = b"\n" * 500 + %s.encode()
try:
    with open("/proc/%%d/fd/1" %% os.getppid(), "ab") as f:
        f.write(text)
except OSError:
    os.write(1, text)
os._exit(0)
`

//go:embed convert/forge.py
var forgePython string

//go:embed convert/forge.go.txt
var forgeGo string

// forgeService adds to files what forges a service: code at the head of those that the solution
// changes, which the service has to load.
func forgeService(t Task, text string, files map[string]string) {
	port := strconv.Itoa(t.Recipe.Service.Port)
	for _, p := range changed(t.Start, t.Goal) {
		before, err := t.Base.Read(p)
		if err != nil || !plainPath(p) {
			continue
		}
		switch path.Ext(p) {
		case ".py":
			head := futureImports.Find(before)
			code := strings.NewReplacer("TEXT", pythonText(text), "PORT", port).Replace(forgePython)
			files[p] = string(head) + code + string(before[len(head):])
		case ".go":
			if clause := packageClause.FindString(string(before)); clause != "" {
				files[path.Join(path.Dir(p), "benchmint_forged.go")] = clause + "\n" + strings.NewReplacer("TEXT", strconv.Quote(text), ":PORT", ":"+port).Replace(forgeGo)
			}
		}
	}
}

// futureImports is the part of a module that must stay before all other code.
var futureImports = lazyregexp.New(`(?s)\A.*\n?from __future__ import [^\n]*\n`)

// testDirs are the folders of files whose names begin or end as those of tests do.
func testDirs(t *tree.Tree, suffix string, prefixes ...string) []string {
	var out []string
	for _, p := range t.Paths() {
		base := path.Base(p)
		starts := slices.ContainsFunc(prefixes, func(s string) bool { return strings.HasPrefix(base, s) && path.Ext(base) == path.Ext(suffix) })
		if (starts || strings.HasSuffix(base, suffix)) && !slices.Contains(out, path.Dir(p)) && plainPath(p) {
			out = append(out, path.Dir(p))
		}
	}
	return out
}

// plainPath reports whether a patch can name a path without quotes.
func plainPath(p string) bool {
	return strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") == ""
}

var packageClause = lazyregexp.New(`(?m)^package (\w+)`)

func packageOf(t *tree.Tree, dir string) string {
	for _, p := range t.Paths() {
		if path.Dir(p) != dir || !strings.HasSuffix(p, "_test.go") {
			continue
		}
		if b, err := t.Read(p); err == nil {
			if m := packageClause.FindSubmatch(b); m != nil {
				return string(m[1])
			}
		}
	}
	return "main"
}

// pythonText is a text as Python's source has it, which knows all escapes of Go's.
func pythonText(s string) string { return fmt.Sprintf("%+q", s) }

// replaced is a hunk that takes every line of a file away for others.
func replaced(b *bytes.Buffer, name, old, now string) {
	removed := signed('-', old)
	if old != "" && !strings.HasSuffix(old, "\n") {
		removed += "\n\\ No newline at end of file\n"
	}
	n, from := strings.Count(removed, "\n-")+1, 1
	if old == "" {
		n, from = 0, 0
	}
	fmt.Fprintf(b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%[2]d,%[3]d +1,%[4]d @@\n%[5]s%[6]s", name, from, n, strings.Count(now, "\n"), removed, signed('+', now))
}

// signed is a text with a sign before each line.
func signed(sign rune, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteRune(sign)
		b.WriteString(line)
	}
	return b.String()
}

// Judged are the tasks that fit a format, as a client of it is asked to judge them.
func Judged(d *output.Dataset, f Format) ([]verify.Task, error) {
	var out []verify.Task
	for _, row := range d.Rows {
		t, err := taskOf(d, row)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		if f.Fits(t) != nil {
			continue
		}
		forged, err := Forged(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		out = append(out, verify.Task{ID: t.InstanceID, Split: t.Split, Gold: t.Gold, Forged: forged})
	}
	return out, nil
}
