package policytest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFaultsPage: each row of docs/faults.md names tests that there are, as a script or
// as a word of some test's source.
func TestFaultsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		inTest := strings.HasSuffix(path, "_test.go") || strings.Contains(path, "sandboxtest") && strings.HasSuffix(path, ".go")
		if err != nil || d.IsDir() || !inTest {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || !strings.Contains(cells[2], "`") {
			continue
		}
		rows++
		for _, name := range strings.Split(cells[2], ",") {
			name = strings.Trim(strings.TrimSpace(name), "`")
			_, err := os.Stat(filepath.Join(root, "cmd", "benchmint", "testdata", "script", name+".txt"))
			if err != nil && !strings.Contains(tests.String(), "func "+name+"(") && !strings.Contains(tests.String(), `{"`+name+`"`) {
				t.Errorf("there is no test %s, which this row names: %s", name, strings.TrimSpace(line))
			}
		}
	}
	if rows < 30 {
		t.Errorf("%d rows: the page is not read as it is written", rows)
	}
}

// TestSecurityPage: each row of docs/security.md that names tests in its last column names
// such that there are: as a function, a case or a file of samples or cases. A star stands
// for the rest of a name.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case strings.Contains(path, "testdata"):
			fmt.Fprintf(&tests, "%q\n", strings.TrimSuffix(d.Name(), filepath.Ext(d.Name())))
			if filepath.Ext(path) != ".txtar" {
				return nil
			}
		case !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "sandboxtest") && !strings.Contains(path, "forgerytest"):
			return nil
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			continue
		}
		rows++
		for i, name := range strings.Split(cells[2], "`") {
			found := func(form string) bool {
				want, _, _ := strings.Cut(fmt.Sprintf(form, name), "*")
				return strings.Contains(tests.String(), want)
			}
			if i%2 == 1 && !found("func %s(") && !found("%q") && !found("-- %s") {
				t.Errorf("there is no test %s, which this row names: %s", name, strings.TrimSpace(line))
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d rows: the page is not read as it is written", rows)
	}
}
