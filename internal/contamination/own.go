package contamination

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// own are our rows; Own makes a Task of one whose dataset is known.
var own = family{
	name:  "benchmint",
	needs: []string{"instance_id", "repo", "base_commit", "patch", "benchmint"},
	wants: []string{"problem_statement"},
	read: func(c cells) (Task, error) {
		t := Task{ID: c["instance_id"], Repo: c["repo"], Patch: c["patch"], Statement: c["problem_statement"], Kind: Change, Bases: []string{c["base_commit"]}}
		if t.ID == "" {
			return t, errors.New("it has no instance_id")
		}
		var x struct {
			Kind          string
			PatchEncoding string `json:"patch_encoding"`
			Trees         struct{ Base string }
			Change        *struct {
				Commit string
				Number int
			}
			Library *struct {
				Release string
				Slice   *struct{ Name string }
			}
			Service *struct {
				Group     string
				BaseImage string `json:"base_image"`
			}
		}
		if err := json.Unmarshal([]byte(c["benchmint"]), &x); err != nil {
			return t, fmt.Errorf("benchmint: %w", err)
		}
		if x.PatchEncoding == "base64" {
			b, err := base64.StdEncoding.DecodeString(t.Patch)
			if err != nil {
				return t, fmt.Errorf("patch: %w", err)
			}
			t.Patch = string(b)
		}
		t.Bases = append(t.Bases, x.Trees.Base)
		switch {
		case x.Change != nil:
			t.Number, t.Commit = x.Change.Number, x.Change.Commit
		case x.Library != nil:
			t.Kind, t.Release, t.Part = Library, x.Library.Release, "whole"
			if x.Library.Slice != nil {
				t.Part = x.Library.Slice.Name
			}
		case x.Service == nil: // of an earlier format
			_, t.Number = numbered(t.ID)
		default:
			t.Kind, t.Part = Service, strings.TrimSuffix(x.Service.Group+" "+x.Service.BaseImage, " ")
		}
		return t, nil
	},
}
