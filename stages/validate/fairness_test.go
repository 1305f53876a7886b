package validate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

func TestFairness(t *testing.T) {
	t.Parallel()
	const loads, absent = "a not_loaded\nend", "a finished u=passed\nend"
	var (
		defined = schemas.Name{Name: "spin", Kind: "function", Signature: "def spin(n)", Path: "code.toy"}
		guessed = schemas.Name{Name: "_wheel"}
	)
	for name, tc := range map[string]struct {
		s         string
		names     []schemas.Name
		statement string
		want      schemas.Reason
		gives     []schemas.Name // the interface
	}{
		"in_the_interface":          {s: loads, names: []schemas.Name{defined}, want: "valid", gives: []schemas.Name{defined}},
		"no_new_names":              {s: loads, want: "valid"},
		"in_neither":                {s: loads, names: []schemas.Name{guessed, defined}, want: schemas.Unnameable, gives: []schemas.Name{defined}},
		"in_neither_new_test":       {s: absent, names: []schemas.Name{guessed}, want: schemas.Unnameable},
		"in_the_statement":          {s: loads, names: []schemas.Name{guessed}, statement: "Add `_wheel`.", want: "valid"},
		"part_of_a_word":            {s: loads, names: []schemas.Name{guessed}, statement: "Add my_wheels.", want: schemas.Unnameable},
		"defined_under_one_reading": {s: loads, names: []schemas.Name{{Name: "spin"}, defined}, want: "valid", gives: []schemas.Name{defined}},
		"defined_and_then_not":      {s: loads, names: []schemas.Name{defined, {Name: "spin"}}, want: "valid", gives: []schemas.Name{defined}},
		"some_test_fails":           {s: fails, names: []schemas.Name{guessed, defined}, want: "valid", gives: []schemas.Name{defined}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, reports{"S": tc.s, "G": passes, "B": "a finished u=passed\nend"}.script)
			b.lang.names, b.c.statement = tc.names, tc.statement
			b.c.S = newTree(t, "code.toy", "1", "test_a.toy", "2", "a", "t u", "n", "1")
			proof, err := b.prove(t)
			if got := reason(err); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if diff := cmp.Diff(tc.gives, proof.Interface); diff != "" {
				t.Errorf("interface (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"run": true, "run()": true, "a run": true, "`x.run`": true, "rerun": false, "run_all": false, "runé": false,
		"rerun, then run": true, "": false, "RUN": false,
	} {
		if got := says(text, "run"); got != want {
			t.Errorf("says(%q, run) = %v", text, got)
		}
	}
	if says("anything", "") {
		t.Error("a name without letters is said by every text")
	}
}
