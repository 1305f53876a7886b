// Command readers gives each reader of strangers' files the nastiest shapes that we know,
// in sizes n and 4n, and prints the CPU time of both and their ratio: 4 where the time
// grows with the size, 16 where it grows with its square.
//
//	go run ./bench/readers [-most 4000000] [-only READER]
//
// A size is followed by one four times as large until one takes a second or is -most
// bytes. It is a measure, and no test: a busy machine shows larger ratios. It never asks a
// network, and never runs anything but itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	only := flag.String("only", "", "only readers and shapes with this in their names")
	most := flag.Int("most", 4_000_000, "largest size in bytes")
	one := flag.String("one", "", "READER/SHAPE to read once, for the command itself")
	size := flag.Int("size", 0, "bytes of -one")
	flag.Parse()
	if *one != "" {
		readOnce(*one, *size)
		return
	}
	if err := run(*only, *most); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readOnce(name string, size int) {
	at := strings.LastIndexByte(name, '/') // names of readers have some, too
	text, read := shapes[name[at+1:]](size), readers()[name[:at]].read
	before := cpu()
	read(text)
	fmt.Println((cpu() - before).Seconds())
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const (
	smallest = 16_000
	enough   = 1.0 // seconds
	limit    = time.Minute
)

func run(only string, most int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Println("| reader | shape | bytes | CPU s | at 4 × | ratio |\n| --- | --- | --- | --- | --- | --- |")
	for _, reader := range sortedKeys(readers()) {
		for _, shape := range readers()[reader].shapes {
			name := reader + "/" + shape
			if !strings.Contains(name, only) {
				continue
			}
			line, err := measure(self, name, most)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fmt.Printf("| %s | %s | %s |\n", reader, shape, line)
		}
	}
	return nil
}

func measure(self, name string, most int) (string, error) {
	before := 0.0
	for size := smallest; ; size *= 4 {
		took, err := ask(self, name, size)
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Sprintf("%d | %.3f | > %.0f | **over** ", size/4, before, limit.Seconds()), nil
		}
		if err != nil {
			return "", err
		}
		if size > smallest && (took >= enough || 4*size > most) {
			ratio := fmt.Sprintf("%.1f", took/max(before, 1e-6))
			if took > 0.2 && took > 7*before {
				ratio = "**" + ratio + "**"
			}
			return fmt.Sprintf("%d | %.3f | %.3f | %s", size/4, before, took, ratio), nil
		}
		before = took
	}
}

func ask(self, name string, size int) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-one", name, "-size", strconv.Itoa(size))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
