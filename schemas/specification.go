package schemas

import "path"

// Names in a specification: its folder below that of a task, and its files in it.
const (
	SpecificationDir  = "spec"
	SpecificationText = "specification.md"
	SpecificationPDF  = "specification.pdf"
)

// Specification is what a library task has beside its statement: the documentation of the
// release as one text, with pictures, and the same printed.
type Specification struct {
	// Source is what it is made of: docs, readme (there is no other document) or signatures
	// (there is none).
	Source string `json:"source"`
	// Reader is how the documentation was read: files, as they lie in the tree.
	Reader    string `json:"reader"`
	Documents int    `json:"documents"`
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
