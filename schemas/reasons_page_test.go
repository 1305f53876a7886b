package schemas_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

var update = flag.Bool("update", false, "write the pages that are made from tables")

// TestReasonsPage holds docs/reasons.md to the table that it is made from.
func TestReasonsPage(t *testing.T) {
	t.Parallel()
	const page = "../docs/reasons.md"
	var want bytes.Buffer
	want.WriteString("# Why an item is rejected\n\nMade from the table in `schemas/reasons.go`; `go test ./schemas -update` writes it anew.\n" +
		"`benchmint explain ID` says which of these it was, and on what evidence.\n")
	stage := ""
	for _, r := range schemas.Reasons {
		if s, _, _ := strings.Cut(string(r.Reason), "/"); s != stage {
			stage = s
			fmt.Fprintf(&want, "\n## %s\n\n| Reason | Meaning | What to do |\n| --- | --- | --- |\n", stage)
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", r.Reason, r.Meaning, r.Advice())
	}
	want.WriteString("\n## Withdrawn\n\nWhy a published task leaves later versions, from `schemas/withdrawals.go`\n([releases.md](releases.md)). For those with a purge its\nbytes may be taken out of published versions, too.\n\n" +
		"| Reason | Meaning | Purge |\n| --- | --- | --- |\n")
	for _, w := range schemas.Withdrawals {
		purge := ""
		if w.Purge {
			purge = "may be"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", w.Withdrawal, w.Meaning, purge)
	}
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("%s is not what the table says (-want +got):\n%s", page, diff)
	}
}
