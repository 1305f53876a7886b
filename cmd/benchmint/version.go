package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// grammarModule carries the grammars that decide what a function is; its version
// is the version of that decision.
const grammarModule = "github.com/smacker/go-tree-sitter"

type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Grammars string `json:"grammars"`
}

func newVersion(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "version, commit and grammars", Args: argsOf(cobra.NoArgs),
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
			return t.err
		},
	}
}

func readVersion() versionInfo {
	v := versionInfo{Version: "(devel)", Commit: "unknown", Go: runtime.Version(), Grammars: "none linked"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
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
