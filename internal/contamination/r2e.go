package contamination

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/schemas"
)

// r2e are rows of R2E-Gym: the commit is the solution's, and the patch is a structure of files and lines.
var r2e = family{
	name:  "R2E-Gym",
	needs: []string{"repo_name", "commit_hash", "parsed_commit_content"},
	wants: []string{"problem_statement"},
	read: func(c cells) (Task, error) {
		t := Task{ID: c["repo_name"] + "__" + c["commit_hash"], Repo: c["repo_name"], Commit: c["commit_hash"], Statement: c["problem_statement"], Kind: Change}
		if t.Commit == "" {
			return t, errors.New("it has no commit_hash")
		}
		var parsed struct {
			FileDiffs []r2eFile `json:"file_diffs"`
			Old       string    `json:"old_commit_hash"`
		}
		if err := json.Unmarshal([]byte(c["parsed_commit_content"]), &parsed); err != nil {
			return t, fmt.Errorf("parsed_commit_content: %w", err)
		}
		if short(parsed.Old) != "" && !strings.Contains(parsed.Old, "^") {
			t.Bases = []string{parsed.Old}
		}
		var b strings.Builder
		for _, f := range parsed.FileDiffs {
			f.write(&b)
		}
		t.Patch = b.String()
		return t, nil
	},
}

type r2eFile struct {
	Header struct {
		File struct {
			Path string `json:"path"`
		} `json:"file"`
	} `json:"header"`
	Hunks []struct {
		Ranges struct {
			Old r2eRange `json:"old_range"`
			New r2eRange `json:"new_range"`
		} `json:"descriptor"`
		Group struct {
			Lines []struct {
				Content string `json:"content"`
				Type    string `json:"type"`
			} `json:"all_lines"`
		} `json:"line_group"`
	} `json:"hunks"`
}

type r2eRange struct {
	Start int `json:"start"`
}

// write makes a diff of it. Tests are in the same structure and are not part of the solution.
func (f r2eFile) write(b *strings.Builder) {
	name := f.Header.File.Path
	if part, _ := parts.Common(name); part == schemas.PartTest {
		return
	}
	fmt.Fprintf(b, "diff --git a/%s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n", name)
	signs := map[string]string{"added": "+", "deleted": "-", "context": " "}
	for _, h := range f.Hunks {
		old, made := 0, 0
		var lines strings.Builder
		for _, l := range h.Group.Lines {
			sign, ok := signs[l.Type]
			if !ok {
				continue // a note on the end of the file
			}
			if sign != "+" {
				old++
			}
			if sign != "-" {
				made++
			}
			lines.WriteString(sign + strings.TrimSuffix(l.Content, "\n") + "\n")
		}
		fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n%s", h.Ranges.Old.Start, old, h.Ranges.New.Start, made, lines.String())
	}
}
