package schemas

import (
	"fmt"
	"strconv"
)

// Prediction is one patch that answers a task.
type Prediction struct {
	Instance string `json:"instance_id"`
	Model    string `json:"model"`
	Sample   int    `json:"sample"` // from 0, of several by one model
	Patch    Digest `json:"patch"`  // blob; of no bytes for an empty one
	// Task is what the task is made of: its trees, recipe and lists. Where it changes, the
	// prediction is graded again.
	Task Digest `json:"task"`
	// Ground is Task without the lists: while it is the same, what a run said can be scored
	// again. "" in what versions before this field graded.
	Ground Digest `json:"ground,omitempty"`
	Effort
	// Read is what there is to say of how the prediction was read.
	Read []string `json:"read,omitempty"`
}

// ID names the prediction among all of one evaluation.
func (p Prediction) ID() string {
	return p.Instance + "@" + ModelSlug(p.Model) + "." + strconv.Itoa(p.Sample)
}

// Validate names what no prediction can be.
func (p Prediction) Validate() error {
	if p.Instance == "" || p.Sample < 0 {
		return fmt.Errorf("prediction of %q, sample %d", p.Instance, p.Sample)
	}
	return nil
}

var badInModel = lazily(`[^A-Za-z0-9._-]`)

// mostModel bounds a model's part of file names and keys.
const mostModel = 60

// ModelSlug is a model's name as file names and keys take it: one that had to be changed or
// cut gets 8 hex of the original.
func ModelSlug(model string) string {
	slug := badInModel().ReplaceAllString(model, "_")
	if slug == model && len(slug) <= mostModel && slug != "" {
		return slug
	}
	return head(slug, mostModel) + "_" + DigestBytes([]byte(model)).Short()[:8]
}

// Verdict is what a grade comes to, in RES-Q's words. A fault of the harness is not a
// verdict: the step is Failed or Deferred.
type Verdict string

// The verdicts.
const (
	VerdictPass    Verdict = "PASS"
	VerdictFail    Verdict = "FAIL"
	VerdictPatch   Verdict = "PATCH FAILED" // it does not apply
	VerdictTimeout Verdict = "TIMED OUT"
	VerdictEmpty   Verdict = "EMPTY" // there is no patch; nothing was run
)

// Verdicts lists them.
var Verdicts = []Verdict{VerdictPass, VerdictFail, VerdictPatch, VerdictTimeout, VerdictEmpty}

// How a patch was applied.
const (
	AppliedExact  = "exact"  // every line is where the patch says
	AppliedOffset = "offset" // as git apply does, with lines moved
	AppliedMended = "mended" // after what Grade.Mended names
)

// Effort is what making a patch took, where the predictions say so; 0 where they do not.
type Effort struct {
	Tokens       int64   `json:"tokens,omitempty"` // both ways
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	Turns        int64   `json:"turns,omitempty"` // of an agent, as it counts them
	Cost         float64 `json:"cost,omitempty"`  // dollars
}

// Grade is the verdict on one prediction, with what it rests on.
type Grade struct {
	Prediction Prediction `json:"prediction"`
	Verdict    Verdict    `json:"verdict"`
	// Rules is the version of the stage that took or refused the patch; "" before it was kept.
	Rules string `json:"rules,omitempty"`
	// Limit is the limit of the sandbox that ended the run, or Tampered where its results
	// cannot be believed; "" for none.
	Limit Reason `json:"limit,omitempty"`
	// Applied is how the patch was applied; "" where it was not.
	Applied string `json:"applied,omitempty"`
	Detail  string `json:"detail,omitempty"` // why the patch does not apply, what was forged, or what was left out of it
	// Mended is what the text of the patch had lost or had too much, and was graded without; Left are files
	// that it names without their content, or submodules: they stay as the base has them.
	Mended []string `json:"mended,omitempty"`
	Left   []string `json:"left_out,omitempty"`
	// Lists are the scores of FAIL_TO_PASS and PASS_TO_PASS; nil where nothing was run.
	F2P *Score `json:"fail_to_pass,omitempty"`
	P2P *Score `json:"pass_to_pass,omitempty"`
	// Why is what the run says of tests that are missed, by ID: the first MostWhys of both lists that it says something of. The
	// reader of a report bounds each.
	Why map[string]string `json:"why,omitempty"`
	// Class is what went wrong, of the six of ABC-Bench; "" where nothing did, and where nothing was run.
	Class ErrorClass `json:"class,omitempty"`
	// Service is how far the service came; nil for other kinds, and where nothing was run.
	Service *Served `json:"service,omitempty"`
	// Tampered are files of the tests and of their runner that the patch touches: they were
	// put back, and what it added among them was removed.
	Tampered []string `json:"tampered,omitempty"`
	// Files are the code files that the patch changes.
	Files []string `json:"files,omitempty"`
	// Overlaps are the functions of the solution, with what the answer has of their own phrases.
	Overlaps []Overlap `json:"overlaps,omitempty"`
	// Uses is what the answer adds that can reach the tests' own process or what they expect: a
	// note for a person, which decides no verdict.
	Uses []Use       `json:"uses,omitempty"`
	Runs []RunRecord `json:"runs,omitempty"`
}

// Use is one thing that a file of an answer uses and the same file of the task does not.
type Use struct {
	Path string `json:"path"`
	Line int    `json:"line"` // from 1, of its first use in the file
	// What is used: a module, a name, a kind of file, or the path of the tests that a literal names.
	What string `json:"what"`
	Why  string `json:"why"` // a person should look at it
}

// Served is how far the service of an answer came, in the two stages of ABC-Bench.
type Served struct {
	Starts bool `json:"starts"` // S1: it builds and answers
	// Functional is S2: every case that counts passes. It is false where Starts is.
	Functional bool `json:"functional"`
}

// ErrorClass is one of the classes of errors of ABC-Bench (Table 5).
type ErrorClass string

// The classes, by the stage that an answer fails in: it is not read, not installed, not built, not
// started, or answers wrongly.
const (
	ClassSyntax      ErrorClass = "syntax"
	ClassPath        ErrorClass = "path_missing"
	ClassDependency  ErrorClass = "dependency_missing"
	ClassCompilation ErrorClass = "compilation"
	ClassLogic       ErrorClass = "logic"
	ClassOther       ErrorClass = "other"
)

// ErrorClasses lists them.
var ErrorClasses = []ErrorClass{ClassSyntax, ClassPath, ClassDependency, ClassCompilation, ClassLogic, ClassOther}

// MostWhys bounds Grade.Why.
const MostWhys = 100

// Overlap is how much of one function of the solution an answer has, word by word.
type Overlap struct {
	Path     string  `json:"path"`
	Function string  `json:"function"` // with what encloses it: Class.method
	Words    int     `json:"words"`    // of the solution's body
	Share    float64 `json:"share"`    // of the phrases that the base does not have, 0 to 1
}

// ID is the prediction's.
func (g Grade) ID() string { return g.Prediction.ID() }

// Score is how many tests of a list pass, and which do not.
type Score struct {
	Want   int      `json:"want"`
	Passed int      `json:"passed"`
	Missed []string `json:"missed,omitempty"`
}

// Full reports whether the whole list passes. An empty list does.
func (s Score) Full() bool { return s.Passed == s.Want }
