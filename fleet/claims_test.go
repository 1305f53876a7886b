package fleet

import "testing"

// A worker that is told to stop gives its tasks back, and a beat from before may be heard after that. It leaves, so
// nobody would ever take such a task from it.
func TestBeatAfterGivingBack(t *testing.T) {
	t.Parallel()
	c := claims{by: map[string]string{}, back: map[string]string{}, old: map[string]bool{}}
	c.begin("task", "leaver")
	c.end("task")
	c.again("task", "leaver")
	c.beats(Beat{Worker: "leaver", Doing: []Doing{{Task: "task"}}})
	if !c.begin("task", "other") {
		t.Error("the task belongs to the worker that gave it back")
	}
}
