// Command statements measures how many messages of real changes the rules can make a
// statement of, and whether each statement says what its author said:
//
//	go run ./bench/statements -most 300 REPOSITORY…
//
// It reads the newest commits of each repository's main line that change code, without
// merges of branches. It prints, for each repository and in total, the messages, those
// that yield a statement, and the statements with code or quotations that their message
// has not (prose.Strays); it ends with 1 where there is one. -print lists every statement
// below its message.
//
// It never judges whether a statement is good: somebody reads what -print prints.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/describe"
)

func main() {
	most := flag.Int("most", 300, "how many commits of each repository are read")
	print := flag.Bool("print", false, "print each message and its statement")
	flag.Parse()
	var all counts
	for _, repo := range flag.Args() {
		c, err := measure(repo, *most, *print)
		if err != nil {
			fmt.Fprintln(os.Stderr, "statements:", err)
			os.Exit(2)
		}
		c.print(filepath.Base(filepath.Dir(repo)))
		all.messages, all.statements, all.strayed = all.messages+c.messages, all.statements+c.statements, all.strayed+c.strayed
	}
	all.print("total")
	if all.strayed > 0 {
		os.Exit(1)
	}
}

type counts struct{ messages, statements, strayed int }

func (c counts) print(name string) {
	fmt.Printf("%-32s %5d messages %5d statements (%4.1f %%) %3d with code or quotations that the message has not\n",
		name, c.messages, c.statements, 100*float64(c.statements)/float64(max(1, c.messages)), c.strayed)
}

func measure(repo string, most int, print bool) (counts, error) {
	var c counts
	out, err := exec.Command("git", "-C", repo, "log", "--first-parent", "--no-merges", fmt.Sprintf("-%d", most), "--format=%H%x00%s%x00%b%x01", //nolint:gosec // the operator's repository
		"HEAD", "--", "*.py", "*.go").Output()
	if err != nil {
		return c, fmt.Errorf("%s: %w", repo, err)
	}
	for _, record := range strings.Split(string(out), "\x01") {
		part := strings.SplitN(strings.TrimSpace(record), "\x00", 3)
		if len(part) != 3 {
			continue
		}
		c.messages++
		change := schemas.Change{Commit: part[0], Subject: part[1], Body: part[2]}
		draft, err := describe.Rules{}.Draft(context.Background(), describe.Material{Change: change})
		if err != nil {
			return c, err
		}
		var strays []string
		if draft.Text != "" {
			c.statements++
			if strays = prose.Strays(draft.Text, change.Subject, change.Body, change.Subject+" "+change.Body); len(strays) > 0 {
				c.strayed++
			}
		}
		if print || len(strays) > 0 {
			fmt.Printf("== %.12s %s\n%s\n--\n%s\n", part[0], part[1], strings.TrimSpace(part[2]), draft.Text)
		}
		if len(strays) > 0 {
			fmt.Printf("-- not the author's: %q\n", strays)
		}
	}
	return c, nil
}
