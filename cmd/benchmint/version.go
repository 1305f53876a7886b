package main

import (
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/prompts"
)

// grammarModule carries the grammars that decide what a function is; its version
// is the version of that decision.
const grammarModule = "github.com/smacker/go-tree-sitter"

type versionInfo struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit"`
	Modified bool              `json:"modified"`
	Go       string            `json:"go"`
	Grammars string            `json:"grammars"`
	Prompts  map[string]string `json:"prompts"` // name → digest
}

func newVersion(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print version, commit and the digests of grammars and prompts", Args: argsOf(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if p.json {
				return p.writeJSON(v)
			}
			t := p.out()
			commit := v.Commit
			if v.Modified {
				commit += " (modified)"
			}
			t.line("benchmint %s\ncommit    %s\ngo        %s\ngrammars  %s", v.Version, commit, v.Go, v.Grammars)
			for _, name := range slices.Sorted(maps.Keys(v.Prompts)) {
				t.line("prompt    %s %s", name, v.Prompts[name])
			}
			return t.err
		},
	}
}

func readVersion() versionInfo {
	v := versionInfo{Version: ownVersion(), Commit: "unknown", Go: runtime.Version(), Grammars: "none linked", Prompts: map[string]string{
		prompts.Classify.Name(): prompts.Classify.Hash(),
		prompts.Describe.Name(): prompts.Describe.Hash(),
	}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	for _, d := range info.Deps {
		if d.Path == grammarModule {
			v.Grammars = strings.TrimPrefix(d.Path, "github.com/") + " " + d.Version
		}
	}
	return v
}

// ownVersion is the module's version, for --version.
func ownVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
