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
	wants: []string{"problem_statement", "test_patch"},
	read: func(c cells) (Task, error) {
		t := Task{ID: c["instance_id"], Repo: c["repo"], Patch: c["patch"], Tests: c["test_patch"], Statement: c["problem_statement"], Kind: Change, Bases: []string{c["base_commit"]}}
		if t.ID == "" {
			return t, errors.New("it has no instance_id")
		}
		var x struct {
			Kind              string
			PatchEncoding     string `json:"patch_encoding"`
			TestPatchEncoding string `json:"test_patch_encoding"`
			Trees             struct{ Base string }
			Change            *struct {
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
		for _, p := range []struct {
			name, encoding string
			text           *string
		}{{"patch", x.PatchEncoding, &t.Patch}, {"test_patch", x.TestPatchEncoding, &t.Tests}} {
			if p.encoding != "base64" {
				continue
			}
			b, err := base64.StdEncoding.DecodeString(*p.text)
			if err != nil {
				return t, fmt.Errorf("%s: %w", p.name, err)
			}
			*p.text = string(b)
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
