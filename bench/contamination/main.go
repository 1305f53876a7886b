// Command contamination measures benchmint decontaminate.
//
//	go run ./bench/contamination -benchmint PATH -dir _work/contamination
//	go run ./bench/contamination -history 40 REPO… >rows.jsonl
//
// The first makes 500 tasks, and 50,000 and 500,000 rows of another dataset in which twenty of them stand rebased and
// indented in another way, and prints seconds, peak memory and what was found beside the goals. The second makes rows of
// the newest first-parent changes of repositories: all are other changes, so that each task that is removed against its
// neighbours is a false alarm, or the same change landed twice.
//
// It never keeps texts of strangers: what it makes of repositories goes to standard output.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	program := flag.String("benchmint", "benchmint", "the program to measure")
	dir := flag.String("dir", filepath.Join("_work", "contamination"), "where tasks and rows go; 10 GB for the larger set")
	most := flag.Int("rows", 500_000, "rows of the larger set; the smaller one has a tenth")
	changes := flag.Int("history", 0, "make rows of so many changes of each repository that is named")
	flag.Parse()
	var err error
	if *changes > 0 {
		err = history(*changes, flag.Args())
	} else {
		err = measure(*program, *dir, *most)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "contamination:", err)
		os.Exit(1)
	}
}

// row is one of SWE-bench.
type row struct {
	InstanceID string `json:"instance_id"`
	Repo       string `json:"repo"`
	Base       string `json:"base_commit"`
	Patch      string `json:"patch"`
	TestPatch  string `json:"test_patch"`
	Statement  string `json:"problem_statement"`
	PassToPass string `json:"PASS_TO_PASS"`
}

const (
	tasks   = 500
	planted = 20
	goal    = 30 * time.Second // of processor, of 50,000 rows: other load makes no verdict
	memory  = 500 << 20        // bytes, at any number of rows
)

func measure(program, dir string, most int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ours := filepath.Join(dir, "ours.jsonl")
	if err := write(ours, tasks, func(i int) row { return made(1, i) }); err != nil {
		return err
	}
	missed := false
	for _, n := range []int{most / 10, most} {
		theirs := filepath.Join(dir, fmt.Sprintf("theirs-%d.jsonl", n))
		if err := write(theirs, n, func(i int) row { return their(i, n) }); err != nil {
			return err
		}
		info, err := os.Stat(theirs)
		if err != nil {
			return err
		}
		began := time.Now()
		cmd := exec.Command(program, "decontaminate", ours, "--against", theirs, "--write", filepath.Join(dir, "hits.jsonl"), "--json")
		out, err := cmd.Output()
		took := time.Since(began)
		var d struct{ Removed, Labelled []string }
		if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
			return err
		}
		if err := json.Unmarshal(out, &d); err != nil {
			return err
		}
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		kept := len(d.Removed) == planted && peak <= memory && cpu <= goal*time.Duration(max(1, n/50_000))
		missed = missed || !kept
		fmt.Printf("%7d rows, %5d MB: %6.1f s (%.1f s of processor), %4d MB, %d of %d planted found, %d labelled; kept: %v\n",
			n, info.Size()>>20, took.Seconds(), cpu.Seconds(), peak>>20, len(d.Removed), planted, len(d.Labelled), kept)
		if err := os.Remove(theirs); err != nil {
			return err
		}
	}
	if missed {
		return errors.New("a goal was missed")
	}
	return nil
}

// their is row i of n of the other dataset: some are tasks of ours.
func their(i, n int) row {
	if i%(n/planted) != 0 {
		return made(2, i)
	}
	r := made(1, i/(n/planted)*7)
	r.InstanceID, r.Repo, r.Base, r.Statement = fmt.Sprintf("moved__copy-%d", i), "moved/copy", made(2, i).Base, made(2, i).Statement
	lines := strings.Split(r.Patch, "\n")
	for k, l := range lines {
		switch {
		case strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++"):
			lines[k] = "+\t" + strings.TrimLeft(l[1:], " ")
		case strings.HasPrefix(l, "@@"):
			lines[k] = strings.Replace(l, "@@ -1", "@@ -3", 1)
		}
	}
	r.Patch = strings.Join(lines, "\n")
	return r
}

// made is a row like those of SWE-rebench in size: about 9 kB, most of them test IDs and statement.
func made(seed, i int) row {
	r := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
	word := func() string { return words[r.IntN(len(words))] + words[r.IntN(len(words))] }
	text := func(n int) string {
		all := make([]string, n)
		for k := range all {
			all[k] = words[r.IntN(len(words))]
		}
		return strings.Join(all, " ")
	}
	var patch strings.Builder
	for range 1 + r.IntN(3) {
		name := fmt.Sprintf("src/%s/%s.py", word(), word())
		added := 3 + r.IntN(40)
		fmt.Fprintf(&patch, "diff --git a/%s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1%d,8 +1%[2]d,%d @@ class %s:\n", name, r.IntN(90), added+6, word())
		for range 3 {
			fmt.Fprintf(&patch, "     %s = self.%s(%s)\n", word(), word(), word())
		}
		fmt.Fprintf(&patch, "-    return self.%s\n-    # %s\n", word(), text(5))
		for range added {
			fmt.Fprintf(&patch, "+        %s = %s.%s(%s, %d)\n", word(), word(), word(), word(), r.IntN(1000))
		}
		for range 3 {
			fmt.Fprintf(&patch, "     %s = %s\n", word(), word())
		}
	}
	repo := fmt.Sprintf("acme%d/widget", i%400)
	return row{
		InstanceID: fmt.Sprintf("%s-%d", strings.Replace(repo, "/", "__", 1), seed*1_000_000+i), Repo: repo, Base: fmt.Sprintf("%020x%020x", r.Uint64(), r.Uint64()),
		Patch: patch.String(), TestPatch: patch.String(), Statement: "### Describe the bug, and what you expected to happen instead of it here please\n" + text(120+r.IntN(300)), PassToPass: text(300),
	}
}

var words = strings.Fields(`node tree leaf root path name value key index count size limit first last next prior open close read write
	parse format print load save sync lock free wait send take give make build clean check prove test case suite group user
	host port link route query order sort merge split join copy move drop keep hold mark label state event timer clock date`)

func write(name string, n int, row func(int) row) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	for i := range n {
		if err := enc.Encode(row(i)); err != nil {
			return err
		}
	}
	return f.Close()
}

// history makes a row of each of the newest first-parent changes of repositories.
func history(n int, repositories []string) error {
	enc := json.NewEncoder(os.Stdout)
	for i, dir := range repositories {
		git := func(args ...string) (string, error) {
			out, err := exec.Command("git", append([]string{"--git-dir", dir}, args...)...).Output()
			return string(out), err
		}
		log, err := git("log", "--first-parent", "--format=%H %P", "-n", fmt.Sprint(20*n))
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		taken := 0
		for line := range strings.Lines(log) {
			commits := strings.Fields(line)
			if len(commits) < 2 || taken == n {
				continue
			}
			patch, err := git("diff", commits[1], commits[0])
			if err != nil {
				return err
			}
			subject, err := git("log", "-n1", "--format=%B", commits[0])
			if err != nil {
				return err
			}
			if len(patch) > 300_000 || !strings.Contains(patch, "test") {
				continue // as a rule not a task
			}
			taken++
			name := fmt.Sprintf("r%d/%s", i, filepath.Base(filepath.Dir(dir)))
			if err := enc.Encode(row{InstanceID: fmt.Sprintf("r%d-%s", i, commits[0][:12]), Repo: name, Base: commits[1], Patch: patch, Statement: subject}); err != nil {
				return err
			}
		}
	}
	return nil
}
