package lang

// Author is a Language that suites can be written for, for changes that have no tests.
type Author interface {
	// Place gives the path of a new test file for code at these paths (of which one is at least),
	// where the project's runner finds it. tests are the paths of the project's source files of
	// tests; stem is what the file is to be called, and no other file.
	Place(tests, code []string, stem string) string
	// Reworded gives a source file that runs as the one at path and whose text another one is, with
	// its path; false where there is none. A test that passes with the one and not with the other
	// looks at the text.
	Reworded(path string, source []byte) (as string, data []byte, ok bool)
}
