// Command writesamples writes the sample repositories of testdata/samples as
// real git repositories, for `make demo` and for looking at them by hand.
//
// It never overwrites a directory that is not empty.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/internal/samples"
)

func main() {
	from := flag.String("from", "testdata/samples", "directory of the *.txtar histories")
	to := flag.String("to", "", "directory that the repositories are written into")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: writesamples -to DIR [-from DIR] [NAME…]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *to == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*from, *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "writesamples:", err)
		os.Exit(1)
	}
}

func write(from, to string, names []string) error {
	all, err := samples.Load(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s samples.Sample) bool { return s.Name == name }) {
			return fmt.Errorf("no sample %q in %s", name, from)
		}
	}
	for _, s := range all {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		dir := filepath.Join(to, s.Name)
		if err := s.Build(dir); err != nil {
			return err
		}
		fmt.Println(dir)
	}
	return nil
}
