// Package httpsuite is the test suite of a service task: the files that are shipped, which run
// with plain pytest and requests, and the runner that proofs run them with.
//
// It never decides what a service must answer (package contract does), and never puts a file
// of the suite into the layer of the service.
package httpsuite

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/schemas"
)

// Names of files in schemas.SuiteFolder.
const (
	CasesFile        = "cases.json"
	requirementsFile = "requirements.txt"
)

//go:embed files/tests_benchmint/*.py files/tests_benchmint/requirements.txt
var embedded embed.FS

const embeddedFolder = "files/tests_benchmint"

// File is one file of a suite, by its path in the tree.
type File struct {
	Path string
	Data []byte
}

// Files are those of a suite, by path: what reads the cases, and the cases.
func Files(s contract.Suite) ([]File, error) {
	cases, err := contract.Encode(s)
	if err != nil {
		return nil, err
	}
	out := append(program(), File{path.Join(schemas.SuiteFolder, CasesFile), cases})
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// program are the files that every suite has.
func program() []File {
	entries, err := fs.ReadDir(embedded, embeddedFolder)
	if err != nil {
		panic(fmt.Sprintf("reading embedded files: %v", err))
	}
	var out []File
	for _, e := range entries {
		out = append(out, File{path.Join(schemas.SuiteFolder, e.Name()), read(e.Name())})
	}
	return out
}

func read(name string) []byte {
	data, err := embedded.ReadFile(path.Join(embeddedFolder, name))
	if err != nil {
		panic(fmt.Sprintf("reading an embedded file: %v", err))
	}
	return data
}
