package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

func TestReadOverrides(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hand.yaml")
	read := func(text string) (map[string]schemas.Override, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadOverrides(file)
	}
	got, err := read("acme__widget-12:\n  statement: |\n    I want to give widgets a colour.\n\n    All of them.\n  interface:\n    - {name: colour, kind: function, path: widget.py, signature: def colour()}\nacme__widget-13:\n  interface:\n    - name: size\n      kind: import\n")
	want := map[string]schemas.Override{
		"acme__widget-12": {Statement: "I want to give widgets a colour.\n\nAll of them.", Interface: []schemas.Name{{Name: "colour", Kind: "function", Path: "widget.py", Signature: "def colour()"}}},
		"acme__widget-13": {Interface: []schemas.Name{{Name: "size", Kind: "import"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"no_id", "widget: {}\n", `:1: "widget" is not an instance ID`},
		{"twice", "a__b-1: {statement: I want to go}\na__b-1: {statement: I want to go}\n", ":2"},
		{"other_opening", "a__b-1:\n  statement: Go.\n", `:2: a__b-1: the statement must be a text that begins with "I want to"`},
		{"unknown_key", "a__b-1:\n  statements: I want to go\n", `:2: unknown key "statements" of a__b-1; did you mean statement?`},
		{"unknown_key_of_a_name", "a__b-1:\n  interface:\n    - {name: x, kind: function, file: y}\n", `unknown key "file" in the interface of a__b-1 (known: name, kind, path, signature)`},
		{"kind", "a__b-1:\n  interface:\n    - {name: x, kind: functoin}\n", `kind "functoin" is not one of`},
		{"no_kind", "a__b-1:\n  interface:\n    - {name: x}\n", "needs name and kind"},
		{"no_list", "a__b-1:\n  interface: x\n", ":2: a__b-1: the interface must be a list"},
		{"no_mapping", "- x\n", ":1: overrides must hold instance IDs"},
		{"no_yaml", "a: [\n", "not YAML"},
	} {
		if _, err := read(tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	if got, err := ReadOverrides(""); got != nil || err != nil {
		t.Errorf("of no file: %v, %v", got, err)
	}
}
