// Command secrets scans the patches of the newest commits of bare repositories, and says
// which share of them holds what looks like a credential, by rule, and how fast it was.
//
//	go run ./bench/secrets [-n 300] REPOSITORY…
//
// It never prints a secret, and never asks a network.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/secrets"
)

func main() {
	n := flag.Int("n", 300, "commits of each repository")
	each := flag.Bool("each", false, "print every finding")
	flag.Parse()
	if err := run(flag.Args(), *n, *each); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dirs []string, n int, each bool) error {
	total, withheld, size := 0, 0, 0
	var took time.Duration
	for _, dir := range dirs {
		ids, err := git(dir, "rev-list", "--first-parent", "-n", strconv.Itoa(n), "HEAD")
		if err != nil {
			return err
		}
		held, rules := 0, map[string]int{}
		commits := strings.Fields(ids)
		for _, id := range commits {
			patch, err := git(dir, "diff-tree", "-p", "--binary", "--root", "-m", "--first-parent", "--no-commit-id", id)
			if err != nil {
				return err
			}
			begin := time.Now()
			found := secrets.ScanPatch([]byte(patch))
			took += time.Since(begin)
			size += len(patch)
			if len(found) > 0 {
				held++
			}
			for _, f := range found {
				rules[f.Rule]++
				if each {
					fmt.Printf("%s %s:%d %s\n", id[:10], f.Path, f.Line, f.Fingerprint)
				}
			}
		}
		fmt.Printf("%-40s %4d commits, %3d with a finding (%.1f %%)", filepath.Base(filepath.Dir(dir)), len(commits), held, 100*float64(held)/float64(max(len(commits), 1)))
		for _, rule := range slices.Sorted(maps.Keys(rules)) {
			fmt.Printf(" %s %d", rule, rules[rule])
		}
		fmt.Println()
		total, withheld = total+len(commits), withheld+held
	}
	fmt.Printf("%d commits, %d with a finding (%.2f %%); %.1f MB in %s\n", total, withheld, 100*float64(withheld)/float64(max(total, 1)), float64(size)/1e6, took.Round(time.Millisecond))
	return nil
}

func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"--git-dir=" + dir, "-c", "safe.directory=*"}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", args[0], dir, err)
	}
	return string(out), nil
}
