package verify

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	at := func(unit, path string, line int, message string) Fault { return Fault{unit, path, line, message} }
	for _, c := range []struct {
		name            string
		source, starter Report
		whole           bool
		want            Result
	}{
		{
			name:    "all_holds",
			source:  Report{Units: []string{"b", "a", "a"}},
			starter: Report{Units: []string{"a", "b"}},
			want:    Result{State: OK, Units: 2, Held: 2},
		},
		{
			name:    "less_than_it_might",
			source:  Report{Units: []string{"a"}, Lacks: "no jars"},
			starter: Report{Units: []string{"a"}, Lacks: "no jars"},
			want:    Result{State: OK, Reason: "no jars", Units: 1, Held: 1},
		},
		{
			name:    "new_in_the_starter",
			source:  Report{Units: []string{"a", "b"}},
			starter: Report{Units: []string{"a", "b"}, Faults: []Fault{at("b", "b.go", 3, "no"), at("b", "b.go", 3, "no")}},
			want:    Result{State: Faulty, Units: 2, Held: 1, Faults: []Fault{at("b", "b.go", 3, "no")}},
		},
		{
			name:    "the_same_message_on_another_line",
			source:  Report{Units: []string{"a", "b"}, Faults: []Fault{at("b", "b.go", 9, "x redeclared at b.go:12:3")}},
			starter: Report{Units: []string{"a", "b"}, Faults: []Fault{at("b", "b.go", 3, "x redeclared at b.go:6:3")}},
			want:    Result{State: OK, Units: 2, Held: 1, Source: []Fault{at("b", "b.go", 9, "x redeclared at b.go:12:3")}},
		},
		{
			name:    "the_same_message_once_more",
			source:  Report{Units: []string{"a"}, Faults: []Fault{at("", "a.go", 9, "unused")}},
			starter: Report{Units: []string{"a"}, Faults: []Fault{at("", "a.go", 3, "unused"), at("", "a.go", 4, "unused")}},
			want: Result{State: Faulty, Units: 1, Held: 1, Faults: []Fault{at("", "a.go", 4, "unused")},
				Source: []Fault{at("", "a.go", 9, "unused")}},
		},
		{
			name: "another_message_where_the_source_fails", whole: true,
			source:  Report{Units: []string{"a", "b"}, Faults: []Fault{at("b", "b.py", 1, "no module")}},
			starter: Report{Units: []string{"a", "b"}, Faults: []Fault{at("b", "b.py", 2, "masked")}},
			want:    Result{State: OK, Units: 2, Held: 1, Source: []Fault{at("b", "b.py", 1, "no module")}},
		},
		{
			name:    "nothing_of_the_source_holds",
			source:  Report{Units: []string{"a"}, Faults: []Fault{at("a", "", 0, "no")}},
			starter: Report{Units: []string{"a"}},
			want:    Result{State: Untold, Reason: "nothing of the source holds", Units: 1, Source: []Fault{at("a", "", 0, "no")}},
		},
		{
			name:    "a_unit_is_gone",
			source:  Report{Units: []string{"a", "b"}},
			starter: Report{Units: []string{"a"}},
			want: Result{State: Faulty, Units: 2, Held: 1,
				Faults: []Fault{at("b", "", 0, "it is there in the source, and was not met in the starter")}},
		},
		{
			name:    "the_starter_was_not_tried",
			source:  Report{Units: []string{"a"}},
			starter: Report{Untold: "over the limit on timeout"},
			want:    Result{State: Untold, Reason: "in the starter: over the limit on timeout", Units: 1},
		},
		{
			name:    "the_starter_was_tried_in_part",
			source:  Report{Units: []string{"a", "b"}},
			starter: Report{Units: []string{"a"}, Faults: []Fault{at("a", "a.ts", 1, "no")}, Untold: "no types"},
			want:    Result{State: Faulty, Units: 2, Faults: []Fault{at("a", "a.ts", 1, "no")}},
		},
		{
			name: "nothing_to_try",
			want: Result{State: Untold, Reason: "there is nothing to try in the source"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, list := range []*[]Fault{&c.want.Faults, &c.want.Source} {
				if *list == nil {
					*list = []Fault{}
				}
			}
			if diff := cmp.Diff(c.want, Compare(c.source, c.starter, c.whole)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	in := []Fault{{"a", "x.py", 1, "no"}, {"b", "x.py", 1, "no"}, {"c", "x.py", 1, "no"}, {"a", "x.py", 1, "never"}, {"", "y.py", 1, "never"}}
	want := []Fault{{"a and 2 more", "x.py", 1, "no"}, {"a", "x.py", 1, "never"}, {"", "y.py", 1, "never"}}
	if diff := cmp.Diff(want, Grouped(in)); diff != "" {
		t.Error(diff)
	}
}
