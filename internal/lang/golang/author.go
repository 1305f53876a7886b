package golang

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
)

var _ lang.Author = Language{}

// Place is in the package of the first of the paths.
func (Language) Place(_, code []string, stem string) string {
	return path.Join(dirOf(code[0]), stem+"_test.go")
}

// Reworded is the file under a name that nobody asks for. What its name says to the go tool (a
// system, a processor) stands at its end, and stays.
func (Language) Reworded(p string, source []byte) (string, []byte, bool) {
	if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
		return "", nil, false
	}
	return path.Join(dirOf(p), "reworded"+path.Base(p)), source, true
}
