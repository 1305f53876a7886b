package mask_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
)

var update = flag.Bool("update", false, "write the page's table of policies anew")

// TestDocs holds the table in docs/mask.md to the one that it is made from.
func TestDocs(t *testing.T) {
	t.Parallel()
	const page, begin, end = "../../docs/mask.md", "<!-- policies -->\n", "<!-- end of policies -->\n"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(raw), begin)
	_, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("%s has no place for the table of policies", page)
	}
	var want bytes.Buffer
	want.WriteString(head + begin + "| Construct | | Why |\n| --- | --- | --- |\n")
	for _, p := range mask.Policies {
		done := "kept"
		if p.Mask {
			done = "masked"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", p.Construct, done, p.Reason)
	}
	want.WriteString(end + tail)
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), string(raw)); diff != "" {
		t.Errorf("%s is not what the table says (-want +got):\n%s", page, diff)
	}
}
