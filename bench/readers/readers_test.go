// Package readers gives each reader of strangers' files the nastiest shapes that we know. With -most it reads them in
// sizes n and 4n, and prints the CPU time of both and their ratio: 4 where the time grows with the size, 16 where it
// grows with its square:
//
//	go test ./bench/readers -v -most 4000000 [-only READER]
//
// A size is followed by one four times as large until one takes a second or is -most bytes. A busy machine shows larger
// ratios. It never asks a network, and never runs anything but itself.
package readers

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
	"testing"
	"time"
)

var (
	only = flag.String("only", "", "only readers and shapes with this in their names")
	most = flag.Int("most", 0, "largest size in bytes that is measured; 0 measures nothing")
	one  = flag.String("one", "", "READER/SHAPE to read once, for the test itself")
	size = flag.Int("size", 0, "bytes of -one")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *one != "" {
		readOnce(*one, *size)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestReaders: no reader stops at any shape. With -most it measures them as well.
func TestReaders(t *testing.T) { //nolint:paralleltest // it measures time
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, reader := range sortedKeys(readers()) {
		for _, shape := range readers()[reader].shapes {
			name := reader + "/" + shape
			switch {
			case !strings.Contains(name, *only):
			case *most == 0:
				readers()[reader].read(shapes[shape](1_000))
			default:
				line, err := measure(self, name, *most)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				t.Logf("| %s | %s | %s |", reader, shape, line)
			}
		}
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
