package grade

import (
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

// TestClasses: the stage that an answer fails in names its class.
func TestClasses(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]schemas.ErrorClass{
		"  File \"app.py\", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax":                              schemas.ClassSyntax,
		"# example.com/shelf\n./main.go:12:2: syntax error: unexpected newline, expected name":                          schemas.ClassSyntax,
		"ModuleNotFoundError: No module named 'flask_cors'":                                                             schemas.ClassDependency,
		"main.go:4:2: no required module provides package github.com/acme/x; to add it:\n\tgo get github.com/acme/x":    schemas.ClassDependency,
		"# example.com/shelf\n./main.go:12:2: undefined: shelves":                                                       schemas.ClassCompilation,
		"internal/api/books.go:7:3: x declared and not used":                                                            schemas.ClassCompilation,
		"FileNotFoundError: [Errno 2] No such file or directory: 'settings.toml'":                                       schemas.ClassPath,
		"bash: line 1: ./server: No such file or directory":                                                             schemas.ClassPath,
		"Dockerfile:1: there is no such file in the root of the project, or nothing in it":                              schemas.ClassPath,
		"COPY failed: file not found in build context or excluded by .dockerignore: stat reqs.txt: file does not exist": schemas.ClassPath,
		"ERROR: No matching distribution found for flask==999.1":                                                        schemas.ClassDependency,
		"OSError: [Errno 98] Address already in use":                                                                    schemas.ClassOther,
		"": schemas.ClassOther,
	} {
		if got := classOf(said); got != want {
			t.Errorf("%q is %s, want %s", said, got, want)
		}
	}
}
