package describe

import (
	"context"

	"github.com/benchmint/benchmint/schemas"
)

// Drafter writes the text of a statement.
type Drafter interface {
	// Draft writes from the material alone. An empty text means that nothing in it can be
	// asked for. An error means that there is no draft now; it is never a verdict.
	Draft(ctx context.Context, m Material) (Draft, error)
}

// Material is what a drafter may use.
type Material struct {
	// Change has the author's texts: notes, subject and body.
	Change schemas.Change
	// Interface are the names that stand below the statement, with their signatures.
	Interface []schemas.Name
	// Required are the solution's own identifiers and literals that the tests use. The
	// interface gives the identifiers; a literal that the text leaves out is stated below it.
	Required []string
	// Shown has, by a message of Required with "…" for its values, how the tests fill it.
	Shown map[string]string
	// Readme is how the project's README begins.
	Readme string
	// Base is how functions that the change edits and that the tests call look at the base.
	Base string
	// Forbidden are names of the author's texts that exist only in the solution, that no
	// test uses and that the project tells nobody.
	Forbidden []string
	// Tests are those that have to pass, with how each fails at the start.
	Tests []schemas.TestVerdict
	// TestPatch and Patch are the blobs of what the change does to the tests, and to the rest.
	TestPatch, Patch schemas.Digest
	// Fault is what a gate had against the draft before; "" at the first.
	Fault string
}

// Reviewer says what is wrong with a statement that passed the gates. An error for which
// llm.NoAnswer holds means that it has nothing to say, and never will.
type Reviewer interface {
	Review(ctx context.Context, m Material, st schemas.Statement) (schemas.Review, error)
}

// Draft is a text that no gate has seen yet.
type Draft struct {
	Provider string   // who wrote it: "rules", or a model's name
	Text     string   // begins with "I want to"; no code
	From     []string // the texts that it was made of: "note", "subject", "body"
	Hints    string   // what else the author says, one sentence a line
	Thin     bool     // its drafter says that there was too little to go on
	// Gaps are the tests of which its drafter knows that the text says nothing; a drafter
	// that does not know has none.
	Gaps []string
	// Judged is told what became of a draft that was paid for; nil where nobody wants to know.
	Judged func(ctx context.Context, gate, fault string) error
}
