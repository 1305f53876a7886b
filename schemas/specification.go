package schemas

import (
	"path"
	"slices"
)

// Names in a specification: its folder below that of a task, and its files in it.
const (
	SpecificationDir  = "spec"
	SpecificationText = "specification.md"
	SpecificationPDF  = "specification.pdf"
	// SpecificationPath is the folder that holds it where a task is solved: in its image, outside of the tree.
	SpecificationPath = "/specification"
)

// How documentation was read.
const (
	ReadFiles  = "files"
	ReadSphinx = "sphinx"
	ReadMkDocs = "mkdocs"
)

// Readers lists them.
var Readers = []string{ReadFiles, ReadSphinx, ReadMkDocs}

// Sources are what a library may be specified by, the least first.
var Sources = []string{"signatures", "readme", "docs"}

// Documented orders them: more documentation is a higher number. It is below 0 for what is
// none of Sources.
func Documented(source string) int { return slices.Index(Sources, source) }

// Specification is what a library task has beside its statement: the documentation of the
// release as one text, with pictures, and the same printed.
type Specification struct {
	// Source is what it is made of: docs, readme (there is no other document) or signatures
	// (there is none).
	Source string `json:"source"`
	// Reader is how the documentation was read: files, as they lie in the tree, or the pages
	// that its own tool built of the release, sphinx or mkdocs.
	Reader string `json:"reader"`
	// BuiltBy is the tool with its version, and Packages how many its environment has;
	// Described are the objects of the code that its documents describe (Python).
	BuiltBy   string `json:"built_by,omitempty"`
	Packages  int    `json:"packages,omitempty"`
	Described int    `json:"described,omitempty"`
	// NotBuilt is why files were read of a release that has a tool, in a line.
	NotBuilt  string `json:"not_built,omitempty"`
	Documents int    `json:"documents"`
	// Guide counts the words of its documents, beside the readme, that describe no object of the code: those of a user guide.
	Guide int `json:"guide_words,omitempty"`
	// Public are the functions, methods and classes that users may name, and Documented those of them with a docstring or doc
	// comment, or that a document describes. 0 and 0 in what versions before these fields made.
	Public     int `json:"public,omitempty"`
	Documented int `json:"documented,omitempty"`
	// Reference says that it ends with signatures and docstrings that no document describes.
	Reference bool `json:"reference"`
	Words     int  `json:"words"` // of the text, between blanks
	Pages     int  `json:"pages"` // of the PDF
	Pictures  int  `json:"pictures"`
	// Redacted are the blocks of code that were left out because they hold lines of bodies.
	Redacted int `json:"redacted"`
	// Left is what else is not in it, by why.
	Left map[string]int `json:"left_out"`
	// PrintedBy is the program that made the PDF, with its version; where there is none,
	// WithoutPDF says why.
	PrintedBy  string              `json:"printed_by,omitempty"`
	WithoutPDF string              `json:"without_pdf,omitempty"`
	Files      []SpecificationFile `json:"files"` // the text first
	// Masked are addresses, names, words and credentials that were masked in the text.
	Masked []Masking `json:"masked,omitempty"`
}

// SpecificationFile is one file, kept as a blob until it is written.
type SpecificationFile struct {
	Path   string `json:"path"` // below SpecificationDir
	Digest Digest `json:"digest"`
}

// Masking is one place of a text that was masked.
type Masking struct {
	Line        int    `json:"line"` // from 1
	Rule        string `json:"rule"`
	Fingerprint string `json:"fingerprint,omitempty"` // of a credential
}

// Name is where a file lies below the folder of its task.
func (f SpecificationFile) Name() string { return path.Join(SpecificationDir, f.Path) }
