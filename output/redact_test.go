package output

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// token is a credential that no file holds.
func token(n uint64) string {
	r, b := rand.New(rand.NewPCG(25, n)), []byte("ghp_")
	for range 36 {
		b = append(b, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789"[r.IntN(46)])
	}
	return string(b)
}

// TestRedaction: prose is masked and said, a row that would carry a credential is
// withheld by name, and no file of the dataset holds one. What is allowed stays.
func TestRedaction(t *testing.T) {
	t.Parallel()
	in := input(t)
	in.tasks = nil
	prose := task(t, 12, goldPatch)
	prose.Statement.Text += "Use " + token(1) + ".\x1b]0;PWNED\x07 \u202e\n"
	prose.Statement.Hints = token(2)
	prose.Origin.Change.Notes[0].Text += token(3)
	patch := task(t, 13, strings.Replace(goldPatch, "cornflower", token(4), 1))
	test := task(t, 14, goldPatch)
	test.Proof.Tests[1].ID += "[" + token(5) + "]"
	recipe := task(t, 15, goldPatch)
	recipe.Environment.Recipe.Variables = map[string]string{"TOKEN": token(6)}
	base := task(t, 16, goldPatch)
	held, err := tree.New(append(baseTree(t).Entries(), tree.Entry{Path: "old/key.py", Mode: tree.ModeFile, Data: []byte("x = '" + token(7) + "'\n")}))
	if err != nil {
		t.Fatal(err)
	}
	base.Base = func() (*tree.Tree, error) { return held, nil }
	base.Start.BaseTree, base.Start.StartTree = held.ID(), apply(t, held, testPatch).ID()
	base.Start.SolutionTree = apply(t, apply(t, held, testPatch), goldPatch).ID()
	in.tasks = []Task{prose, patch, test, recipe}
	in.rejects[0].Detail += token(8)
	secretive := in.flakes[len(in.flakes)-1]
	secretive.Test += "[" + token(0) + "]"
	in.flakes = append(in.flakes, secretive)
	in.Configuration = map[string]any{"kinds": []string{token(9)}}
	dir := filepath.Join(t.TempDir(), "out")
	m, err := Write(dir, in.of())
	if err != nil {
		t.Fatal(err)
	}
	if m.Counts.Tasks != 1 || m.Counts.Rejected != 4 {
		t.Errorf("%+v", m.Counts)
	}
	for name, text := range contents(t, dir) {
		for n := range uint64(10) {
			if strings.Contains(text, token(n)) {
				t.Errorf("%s holds token %d", name, n)
			}
		}
		if strings.Contains(name, ".md") && strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("%s holds hidden characters", name)
		}
	}
	rejects := contents(t, dir)[RejectsFile]
	for _, want := range []string{string(schemas.SecretInRow), "widget.py", "recipe.json", "github-pat"} {
		if !strings.Contains(rejects, want) {
			t.Errorf("rejects do not say %q:\n%s", want, rejects)
		}
	}
	if got := strings.Count(contents(t, dir)[RedactionsFile], `"done":"masked"`); got != 5 {
		t.Errorf("%d lines of %s:\n%s", got, RedactionsFile, contents(t, dir)[RedactionsFile])
	}
	if text := contents(t, dir)[RedactionsFile]; !strings.Contains(text, `"done":"withheld"`) || !strings.Contains(text, FlakesFile) {
		t.Errorf("the flake that is not there is not said:\n%s", text)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("%v %v", findings, err)
	}
	in.Allow = secrets.Allow{"old/", "widget.py"}
	in.tasks = append(in.tasks, base) // its start was made: what its tree holds is allowed
	in.Replace = true
	if m, err = Write(dir, in.of()); err != nil || m.Counts.Tasks != 3 {
		t.Errorf("what is allowed is not there: %+v %v", m.Counts, err)
	}
	if _, err := os.Stat(filepath.Join(dir, RedactionsFile)); err != nil || strings.Count(contents(t, dir)[RedactionsFile], `"done":"allowed"`) != 2 {
		t.Errorf("it is not said: %v", err)
	}
}

// TestScreening: addresses, the names beside them and offensive words are masked in what
// people wrote, and each is said. An address that the code of the task works with stays.
func TestScreening(t *testing.T) {
	t.Parallel()
	in := input(t)
	one := task(t, 12, goldPatch)
	one.Statement.Text += "Jane Doe <jane@corp.io> wants this shit.\n"
	one.Statement.Hints = "Ask joe@corp.io.\n"
	one.Origin.Change.Notes[0].Text += " by Ann (ann@corp.io)"
	two := task(t, 13, strings.Replace(goldPatch, "cornflower", "root@corp.io", 1))
	two.Statement.Text += "The default is root@corp.io.\n"
	in.tasks = []Task{one, two}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	files := contents(t, dir)
	for name, text := range files {
		for _, gone := range []string{"jane@", "joe@", "ann@", "Jane Doe", "Ann", "this shit"} {
			if strings.Contains(text, gone) {
				t.Errorf("%s holds %s", name, gone)
			}
		}
	}
	if text := files[TasksDir+"/"+two.ID()+"/"+StatementFile]; !strings.Contains(text, "The default is root@corp.io.") {
		t.Errorf("what the code works with is gone:\n%s", text)
	}
	if text := files[TasksDir+"/"+one.ID()+"/"+StatementFile]; !strings.Contains(text, "<name> <<email>> wants this <word>.") {
		t.Errorf("the statement:\n%s", text)
	}
	for rule, want := range map[string]int{"email": 3, "name": 2, "word": 1} {
		if got := strings.Count(files[RedactionsFile], `"rule":"`+rule+`"`); got != want {
			t.Errorf("%d lines of %s, want %d:\n%s", got, rule, want, files[RedactionsFile])
		}
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("%v %v", findings, err)
	}
}
