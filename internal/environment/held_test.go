package environment_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/sandbox"
)

// freeing is a sandbox that notes what is removed.
type freeing struct {
	sandbox.Sandbox
	gone  []string
	fault error
}

func (f *freeing) Remove(ctx context.Context, l sandbox.Layer) error {
	f.gone = append(f.gone, l.ID)
	return errors.Join(f.fault, ctx.Err())
}

// TestHold: what is held for an item is given back once: when it is released, when it is held anew,
// when too many others came, and at the end, an interrupt or not.
func TestHold(t *testing.T) {
	t.Parallel()
	box := &freeing{}
	b := builder(&scripted{}, langtest.Toy{})
	b.Sandbox = box
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hold := func(item string, ids ...string) func() error {
		return func() error {
			var layers []sandbox.Layer
			for _, id := range ids {
				layers = append(layers, sandbox.Layer{ID: id})
			}
			return b.Hold(ctx, item, layers)
		}
	}
	release := func(item string) func() error { return func() error { return b.Release(ctx, item) } }
	for i, step := range []struct {
		do   func() error
		gone []string
	}{
		{hold("a", "a-G", "a-B"), nil},
		{hold("b", "b-G"), nil},
		{release("a"), []string{"a-G", "a-B"}},
		{release("a"), nil},
		{hold("b", "b-G", "b-B"), []string{"b-G"}},
		{hold("c", "c"), nil},
		{hold("d", "d"), nil},
		{hold("e", "e"), nil},
		{hold("f", "f"), []string{"b-G", "b-B"}},
		{func() error { return b.Close(ctx) }, []string{"c", "d", "e", "f"}},
		{func() error { return b.Close(ctx) }, nil},
	} {
		box.gone = nil
		if err := step.do(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if d := cmp.Diff(step.gone, slices.Clone(box.gone)); d != "" {
			t.Errorf("step %d (-want +got):\n%s", i, d)
		}
	}
	box.fault = errors.New("disk gone")
	if err := errors.Join(hold("g", "g")(), b.Close(ctx)); !errors.Is(err, box.fault) {
		t.Errorf("got %v, want the fault of the sandbox", err)
	}
}
