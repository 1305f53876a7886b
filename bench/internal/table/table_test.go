package table

import (
	"errors"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var all Table
	all.AtLeast("fast", 2, 2)
	all.AtMost("small", 2, 2)
	var out strings.Builder
	if err := all.Print(&out); err != nil || strings.Count(out.String(), "kept") != 2 {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, miss := range []func(*Table){
		func(t *Table) { t.AtLeast("fast", 1.9, 2) },
		func(t *Table) { t.AtMost("small", 2.1, 2) },
	} {
		missed := all
		miss(&missed)
		out.Reset()
		if err := missed.Print(&out); !errors.Is(err, ErrMissed) || strings.Count(out.String(), "MISSED") != 1 {
			t.Errorf("%v\n%s", err, &out)
		}
	}
}
