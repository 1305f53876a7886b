package lang

// Guarded is a Language with files that decide how tests run although they are not of the
// test part: a grader takes them from the task and never from an answer.
type Guarded interface {
	// Hook reports whether the interpreter or the runner loads path by itself, by its name.
	Hook(path string) bool
	// RunnerSettings is what a manifest says to the runner of the tests, in a form to be
	// compared; "" for nothing. It never fails: what cannot be read says nothing.
	RunnerSettings(path string, data []byte) string
}
