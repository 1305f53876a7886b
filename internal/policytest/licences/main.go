// Command licences reads lines "module folder" and fails where the licence of a module
// is missing, unknown, or not one that a program under MIT may link.
//
// It never asks a network: it reads the module cache.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// allowed are licences that let a program under MIT link the code unchanged.
var allowed = []string{"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "CC0-1.0", "Unlicense", "BlueOak-1.0.0", "MPL-2.0"}

// licenceFile matches the names of files with a licence of code; LICENSE.docs is for documents.
var licenceFile = lazyregexp.New(`(?i)^(un)?(licen[sc]e|copying)([-.](md|txt|mit|apache|bsd|gpl|lgpl|agpl|mpl).*)?$`)

// minimum is the percentage of a file's text that has to be a known licence.
const minimum = 60

func main() {
	n, err := check(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d modules, every licence is allowed\n", n)
}

// check returns the number of modules, and an error that names each bad one.
func check(in io.Reader) (int, error) {
	var bad []string
	n := 0
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		module, dir, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return n, fmt.Errorf("line %q is not a module and its folder", lines.Text())
		}
		n++
		if why := judge(dir); why != "" {
			bad = append(bad, module+": "+why)
		}
	}
	if err := lines.Err(); err != nil {
		return n, err
	}
	switch {
	case len(bad) > 0:
		return n, fmt.Errorf("licences:\n%s", strings.Join(bad, "\n"))
	case n == 0:
		return n, fmt.Errorf("no module was read")
	}
	return n, nil
}

// judge says why the licence in a module's folder is not allowed; "" if it is.
func judge(dir string) string {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	read := 0
	for _, f := range files {
		if !licenceFile.MatchString(f.Name()) {
			continue
		}
		read++
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err.Error()
		}
		found := licensecheck.Scan(text)
		if found.Percent < minimum {
			return fmt.Sprintf("%s is an unknown text (%.0f %% known)", f.Name(), found.Percent)
		}
		for _, m := range found.Match {
			if !slices.Contains(allowed, m.ID) {
				return f.Name() + " is " + m.ID
			}
		}
	}
	if read == 0 {
		return "there is no licence file"
	}
	return ""
}
