package lang

// Guarded is a Language with files that decide how tests run although they are not of the
// test part: a grader takes them from the task and never from an answer.
type Guarded interface {
	// Hook reports whether the interpreter, the compiler or the runner of the tests loads
	// path by itself, by its name, in a tree like start.
	Hook(path string, start Tree) bool
	// RunnerSettings is what a manifest says to the runner of the tests, or of what the tests
	// import, in a form to be compared; "" for nothing. What cannot be read says something
	// that nothing else says.
	RunnerSettings(path string, data []byte) string
	// Weakens reports whether a manifest of an answer has the tests mean less than that of the task does.
	Weakens(path string, task, answer []byte) bool
	// Cache is the folder from which the interpreter may load something else in the place of a file of the test
	// part; "" where there is none.
	Cache(path string) string
}
