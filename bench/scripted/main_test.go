package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/tree"
)

const (
	starter = `import b


class Lathe:
    def turn(self):
        raise NotImplementedError("masked: Lathe.turn")

    def speed(self):
        raise NotImplementedError("masked: Lathe.speed")
`
	solved = `import b


class Lathe:
    def turn(self):
        x = b.cut(1)

        return x

    def speed(self):
        return 2
`
	patch = `diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -3,7 +3,9 @@
 
 class Lathe:
     def turn(self):
-        raise NotImplementedError("masked: Lathe.turn")
+        x = b.cut(1)
+
+        return x
 
     def speed(self):
-        raise NotImplementedError("masked: Lathe.speed")
+        return 2
`
	manual = "# lathe\n\nAll.\n\n## `lathe.Lathe`\n\nTurns.\n\n### `Lathe.speed`\n\nGives two.\n\n## End\n\nNo more.\n"
)

func oneFile(t *testing.T, text string) *tree.Tree {
	t.Helper()
	out, err := tree.New([]tree.Entry{{Path: "a.py", Mode: tree.ModeFile, Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAnswer: which functions a model writes says its name, and what the question shows.
func TestAnswer(t *testing.T) {
	t.Parallel()
	l, err := newLibrary("Write it.", oneFile(t, starter), oneFile(t, solved), []byte(patch), manual)
	if err != nil {
		t.Fatal(err)
	}
	imported := "\n\nThe file b.py, which a.py imports:\n\ndef cut(x):\n    raise NotImplementedError(\"masked: cut\")\n"
	for _, tc := range []struct {
		name, model, material, ask string
		want                       []string // the functions that have a body
	}{
		{"all", "share-100", "", "Write the missing bodies of a.py.", []string{"turn", "speed"}},
		{"none", "share-0", "", "Write the missing bodies of a.py.", nil},
		{"said_by_tests_and_not_able", "share-0", "", "These tests do not pass:\n\nNotImplementedError: masked: Lathe.turn\n", nil},
		{"calls_what_is_not_written", "ordered-100", imported, "Write the missing bodies of a.py.", []string{"speed"}},
		{"calls_what_is_written", "ordered-100", strings.ReplaceAll(imported, "masked", "was"), "Write the missing bodies of a.py.", []string{"turn", "speed"}},
		{"passage", "reader-100", "\n\nFrom the specification of the library:\n\n" + manual, "Write the missing bodies of a.py.", []string{"speed"}},
		{"passage_is_cut", "reader-100", "\n\nFrom the specification of the library:\n\n" + strings.ReplaceAll(manual, "Gives two.", "Gives"), "Write the missing bodies of a.py.", nil},
		{"no_passage", "reader-100", "", "Linters say of a.py:", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := script{l}.answer(llmtest.Asked{Model: tc.model, User: "Write it." + tc.material + "\n\nThe file a.py now:\n\n" + starter + "\n\n" + tc.ask})
			var reply struct{ Text string }
			if err := json.Unmarshal([]byte(got.Text), &reply); err != nil {
				t.Fatal(err, got)
			}
			var written []string
			for _, name := range []string{"turn", "speed"} {
				if !strings.Contains(reply.Text, "masked: Lathe."+name) {
					written = append(written, name)
				}
			}
			if diff := cmp.Diff(tc.want, written); diff != "" {
				t.Error(diff)
			}
			if len(written) == 2 && reply.Text != solved || len(written) == 0 && reply.Text != starter {
				t.Errorf("not the file:\n%s", reply.Text)
			}
		})
	}
	// A function that has a body keeps it, whoever asks.
	half := strings.Replace(starter, `raise NotImplementedError("masked: Lathe.speed")`, "return 2", 1)
	if got := (script{l}).answer(llmtest.Asked{Model: "share-0", User: "Write it.\n\nThe file a.py now:\n\n" + half + "\n\nLinters say of a.py:"}); !strings.Contains(got.Text, "return 2") {
		t.Error(got.Text)
	}
	for _, model := range []string{"gold", "share-101", "share"} {
		if got := (script{l}).answer(llmtest.Asked{Model: model, User: "Write it.\n\nThe file a.py now:\n\n" + starter + "\n\nLinters say of a.py:"}); got.Status != 404 {
			t.Errorf("%s: %+v", model, got)
		}
	}
	if _, err := newLibrary("Write it.", oneFile(t, starter), oneFile(t, solved+"x\n"), []byte(patch), manual); err == nil {
		t.Error("bodies that do not make the solution are taken")
	}
}

// TestDrawn: so many of a hundred functions are drawn, and with a larger share the same ones as well.
func TestDrawn(t *testing.T) {
	t.Parallel()
	n := 0
	for i := range 1000 {
		name := strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		if drawn(name, 60) {
			n++
			if !drawn(name, 61) {
				t.Errorf("%s is not drawn any more", name)
			}
		}
	}
	if n < 540 || n > 660 {
		t.Errorf("%d of 1000", n)
	}
}
