package link_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// TestPublished: a change that is a task of a set is rejected with the evidence; one that only looks like it is not,
// and the record of what passes does not depend on the sets.
func TestPublished(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, "-- commit: B --\n-- app.src --\none\ntwo\nthree\n-- a_check.src --\nx\n-- commit: C --\n-- app.src --\none\nshade of the widget by its size\nmix the shade with what is left of the paint\npaint it\nlet it dry\nthree\n-- a_check.src --\ny\n")
	free := newWorld(t, dir, anyShape())
	change := free.changes(t)[0]
	start, err := free.link.Run(t.Context(), change)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := free.blobs.Get(start.Patch)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, repo, base, patch string
		key                     string // "" where it passes
	}{
		{"same_patch", "copies/gadget", strings.Repeat("9", 40), strings.ReplaceAll(string(patch), "@@ -1,", "@@ -7,"), "patch_id"},
		{"same_base_and_place", "copies/gadget", change.Base, string(patch), "base_commit"},
		{"same_base_alone", "copies/gadget", change.Base, strings.ReplaceAll(string(patch), "e", "o"), ""},
		{"other_patch", "acme/widget", strings.Repeat("9", 40), strings.ReplaceAll(string(patch), "e", "o"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			row, err := json.Marshal(map[string]string{"instance_id": "their-task", "repo": tt.repo, "base_commit": tt.base, "patch": tt.patch, "problem_statement": ""})
			if err != nil {
				t.Fatal(err)
			}
			set := filepath.Join(t.TempDir(), "set.jsonl")
			if err := os.WriteFile(set, row, 0o644); err != nil {
				t.Fatal(err)
			}
			c := anyShape()
			if c.Known, err = contamination.Open(t.Context(), []string{set}, contamination.Default()); err != nil {
				t.Fatal(err)
			}
			c.Sets = c.Known.Sets()
			if schemas.DigestOf(c) == schemas.DigestOf(anyShape()) {
				t.Error("the set is not in the fingerprint")
			}
			got, err := newWorld(t, dir, c).link.Run(t.Context(), change)
			var rejected *pipeline.Rejected
			switch {
			case tt.key == "" && err != nil:
				t.Errorf("rejected: %v", err)
			case tt.key == "" && schemas.DigestOf(got) != schemas.DigestOf(start):
				t.Error("its start is another one")
			case tt.key != "" && (!errors.As(err, &rejected) || rejected.Reason != schemas.KnownTask || !strings.Contains(err.Error(), "it is their-task of set.jsonl by "+tt.key)):
				t.Errorf("end %v, want %s by %s", err, schemas.KnownTask, tt.key)
			}
		})
	}
}
