package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var colour = lazyregexp.New(`\[\p{Nd}+m`)

// parsed is the name that SWE-bench's parser parse_log_pytest_v2 reads of the line
// "PASSED id": it takes colours and control characters away, and makes one blank of
// several.
func parsed(id string) string {
	line := colour.ReplaceAllString("PASSED "+id, "")
	line = strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, line)
	words := strings.Fields(line)
	return strings.Join(words[1:], " ")
}

// names is nil where the parser gives each ID of the lists back as it is, and where no
// failure of one can be taken for the result of another.
func names(lists ...[]string) error {
	all := map[string]bool{}
	for _, ids := range lists {
		for _, id := range ids {
			switch {
			case strings.Contains(id, "\n"):
				return fmt.Errorf("the parser would cut a test's name at its line feed: %q", id)
			case parsed(id) != id:
				return fmt.Errorf("the parser would read another name (%q) for the test %q", parsed(id), id)
			case all[id]:
				return fmt.Errorf("the test %q is in the lists twice", id)
			}
			all[id] = true
		}
	}
	for _, id := range slices.Concat(lists...) {
		// Of a line FAILED the parser drops what follows " - ", as pytest's summary has it.
		if head, _, cut := strings.Cut(id, " - "); cut && all[head] {
			return fmt.Errorf("the parser would take a failure of %q for one of %q", id, head)
		}
	}
	return nil
}
