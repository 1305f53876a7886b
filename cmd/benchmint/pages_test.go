package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/config"
)

var (
	behind  = regexp.MustCompile(` +#.*| >\S+| && .*`) // a command of a block of code
	span    = regexp.MustCompile("`benchmint ([^`\n]*)`")
	setting = regexp.MustCompile(`--set ([a-z][a-z0-9_.]*)=(\S+)`)
)

// shown are the commands of a page, in blocks of code and between backticks, and its blocks
// of YAML.
func shown(text string) (verbs, files []string) {
	code, language := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fence, ok := strings.CutPrefix(line, "```")
		switch {
		case ok:
			if code, language = !code, fence; language == "yaml" {
				files = append(files, "")
			}
		case code && language == "yaml":
			files[len(files)-1] += line + "\n"
		case code || strings.HasPrefix(line, "    "):
			if verb, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "benchmint "); ok {
				verbs = append(verbs, behind.ReplaceAllString(verb, ""))
			}
		default:
			for _, m := range span.FindAllStringSubmatch(line, -1) {
				verbs = append(verbs, m[1])
			}
		}
	}
	return verbs, files
}

// TestPages: each verb, flag and setting of a command that README, CONTRIBUTING or a page of
// docs shows is one that there is, and each configuration is read. What the commands of the
// demo print is compared in e2e.
func TestPages(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, n := t.TempDir(), 0
	if err := os.WriteFile(filepath.Join(dir, "curated.yaml"), []byte("web: [acme/widget]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	notation := strings.NewReplacer("[", "", "]", "", "…", "")
	for _, path := range append(paths, "../../README.md", "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		verbs, files := shown(string(text))
		n += len(verbs)
		for _, verb := range verbs {
			root := newRoot(&world{stdout: t.Output(), stderr: t.Output()})
			cmd, args, err := root.Find(strings.Fields(notation.Replace(verb)))
			if err == nil && cmd == root {
				err = unknownVerb(root, verb)
			}
			if err == nil && !cmd.DisableFlagParsing {
				err = cmd.ParseFlags(args)
			}
			if err == nil {
				flags := map[string]string{}
				for _, m := range setting.FindAllStringSubmatch(verb, -1) {
					flags[m[1]] = m[2]
				}
				err = readable(config.Input{Sources: []string{"acme/widget=."}}, flags)
			}
			if err != nil {
				t.Errorf("%s: benchmint %s: %v", filepath.Base(path), verb, err)
			}
		}
		for _, text := range files {
			if !strings.HasPrefix(text, "# benchmint.yaml\n") {
				continue
			}
			file := filepath.Join(dir, "benchmint.yaml")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := readable(config.Input{File: file}, nil); err != nil {
				t.Errorf("%s: %v:\n%s", filepath.Base(path), err, text)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d commands found", n)
	}
}

// readable reads a configuration with settings of the command line.
func readable(in config.Input, flags map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		in.Flags = append(in.Flags, config.Setting{Key: key, Value: flags[key], Flag: "--set"})
	}
	_, err := config.Load(in)
	return err
}
