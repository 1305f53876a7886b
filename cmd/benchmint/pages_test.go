package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

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
			err := understood(t, strings.Fields(notation.Replace(verb)))
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

// understood: the verb and the flags of a command are there.
func understood(t *testing.T, words []string) error {
	t.Helper()
	root := newRoot(&world{stdout: t.Output(), stderr: t.Output()})
	cmd, args, err := root.Find(words)
	if err == nil && cmd == root {
		return unknownVerb(root, strings.Join(words, " "))
	}
	if err == nil && !cmd.DisableFlagParsing {
		err = cmd.ParseFlags(args)
	}
	return err
}

// TestDeploy: the files in deploy are YAML, and each command in them is one that there is. The profile is tested in
// internal/sandbox/seccomp.
func TestDeploy(t *testing.T) {
	t.Parallel()
	var commands [][]string
	for _, name := range []string{"compose.yaml", "kubernetes.yaml", "slurm.sh", "benchmint-work.service"} {
		text, err := os.ReadFile("../../deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, words, ok := strings.Cut(line, "benchmint work "); ok && !strings.HasPrefix(line, "#") {
				words = strings.NewReplacer(`"${SLURM_CPUS_PER_TASK:-1}"`, "1", `"$1"`, "nats://HOST:4222").Replace(words)
				commands = append(commands, append([]string{"work"}, strings.Fields(words)...))
			}
		}
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var document any
			if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			commands = append(commands, arguments(document)...)
		}
	}
	if len(commands) != 6 {
		t.Errorf("%d commands found, want 6: %q", len(commands), commands)
	}
	for _, words := range commands {
		if err := understood(t, words); err != nil {
			t.Errorf("benchmint %s: %v", strings.Join(words, " "), err)
		}
	}
}

// arguments are the lists under command and args, wherever they are.
func arguments(v any) (out [][]string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			out = append(out, arguments(one)...)
		}
	case map[string]any:
		for key, one := range v {
			if list, ok := one.([]any); ok && (key == "command" || key == "args") {
				var words []string
				for _, word := range list {
					words = append(words, fmt.Sprint(word))
				}
				out = append(out, words)
				continue
			}
			out = append(out, arguments(one)...)
		}
	}
	return out
}

// readable reads a configuration with settings of the command line.
func readable(in config.Input, flags map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		in.Flags = append(in.Flags, config.Setting{Key: key, Value: flags[key], Flag: "--set"})
	}
	_, err := config.Load(in)
	return err
}
