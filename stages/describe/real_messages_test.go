package describe

import (
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

var (
	repository = flag.String("repository", "", "a repository whose messages BenchmarkRealMessages reads")
	most       = flag.Int("most", 300, "how many of its commits are read")
	printAll   = flag.Bool("print", false, "print each message and its statement")
)

// BenchmarkRealMessages measures how many messages of real changes the rules can make a statement of, and whether each
// statement says what its author said. It reads the newest commits of a repository's main line that change code, without
// merges of branches. It never judges whether a statement is good: somebody reads what -print prints.
//
//	go test ./stages/describe -run - -bench RealMessages -benchtime 1x -repository FOLDER
func BenchmarkRealMessages(b *testing.B) {
	if *repository == "" {
		b.Skip("no -repository is given")
	}
	out, err := exec.Command("git", "-C", *repository, "log", "--first-parent", "--no-merges", fmt.Sprintf("-%d", *most),
		"--format=%H%x00%s%x00%b%x01", "HEAD", "--", "*.py", "*.go").Output()
	if err != nil {
		b.Fatal(err)
	}
	messages, statements := 0, 0
	for _, record := range strings.Split(string(out), "\x01") {
		part := strings.SplitN(strings.TrimSpace(record), "\x00", 3)
		if len(part) != 3 {
			continue
		}
		messages++
		change := schemas.Change{Commit: part[0], Subject: part[1], Body: part[2]}
		draft, err := Rules{}.Draft(b.Context(), Material{Change: change})
		if err != nil {
			b.Fatal(err)
		}
		if *printAll {
			b.Logf("== %.12s %s\n%s\n--\n%s", part[0], part[1], strings.TrimSpace(part[2]), draft.Text)
		}
		if draft.Text == "" {
			continue
		}
		statements++
		if strays := prose.Strays(draft.Text, change.Subject, change.Body, change.Subject+" "+change.Body); len(strays) > 0 {
			b.Errorf("%.12s %s: the statement %q has what the message has not: %q", part[0], part[1], draft.Text, strays)
		}
	}
	b.Logf("%d messages, %d statements (%.1f %%)", messages, statements, 100*float64(statements)/float64(max(1, messages)))
}
