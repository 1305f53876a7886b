package validate

import (
	"testing"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// TestBodies: of a library, what the mask took out is searched for in its starter too.
func TestBodies(t *testing.T) {
	t.Parallel()
	const body = "    scaled = [value * factor for value in values if value > least]\n    for found in scaled:\n        report(found, limit=factor, least=least)\n    return sorted(scaled, key=abs)\n"
	starter, err := tree.New([]tree.Entry{
		{Path: "widget.py", Mode: tree.ModeFile, Data: []byte("def scale(values, factor, least):\n    raise NotImplementedError\n")},
		{Path: "tests/test_widget.py", Mode: tree.ModeFile, Data: []byte("def copied():\n" + body)},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := Material{Start: schemas.Start{Kind: schemas.KindLibrary}, Trees: states.Trees{B: starter, Patch: []byte("diff --git a/widget.py b/widget.py\n--- a/widget.py\n+++ b/widget.py\n@@ -1,2 +1,5 @@\n def scale(values, factor, least):\n-    raise NotImplementedError\n" +
		"+    scaled = [value * factor for value in values if value > least]\n+    for found in scaled:\n+        report(found, limit=factor, least=least)\n+    return sorted(scaled, key=abs)\n")}}
	v := &Validator{Outside: Outside{Builder: &environment.Builder{Languages: plugins.Languages()}}}
	bodies, err := v.bodies(m)
	if err != nil || bodies.Text(body) == "" {
		t.Fatalf("%v, %v", bodies, err)
	}
	if copies, err := bodies.Copies(t.Context(), starter); err != nil || len(copies) != 1 || bodies.Share(copies) < 0.5 {
		t.Errorf("%v, %v", copies, err)
	}
	m.Start.Kind = schemas.KindFeature
	if bodies, err = v.bodies(m); bodies != nil || err != nil {
		t.Errorf("of a change: %v, %v", bodies, err)
	}
}
