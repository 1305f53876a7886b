package prompts

import "encoding/json"

// Requests asks for further requests of a group of endpoints.
var Requests = Prompt[RequestsInput, RequestsAnswer]{"requests", files}

// RequestsInput is what a model may use to propose requests.
type RequestsInput struct {
	Repository string            `json:"repository"`
	Framework  string            `json:"framework"`
	Group      string            `json:"group"`
	Endpoints  []ServiceEndpoint `json:"endpoints"`
	Cases      []ServiceCase     `json:"cases"`
	Users      []string          `json:"users"`
	Files      []File            `json:"files,omitempty"`
}

// ServiceEndpoint is one that a proposal may ask.
type ServiceEndpoint struct {
	Index    int      `json:"index"`
	Method   string   `json:"method"`
	Path     string   `json:"path"`
	Auth     string   `json:"auth,omitempty"` // required or optional
	Query    []string `json:"query,omitempty"`
	Body     []string `json:"body,omitempty"`
	Encoding string   `json:"encoding,omitempty"`
	Status   int      `json:"status"` // of the rules' request; 0: there is none
}

// ServiceCase is a request that was sent.
type ServiceCase struct {
	ID       string         `json:"id"`
	Endpoint string         `json:"endpoint"` // method and path
	Params   map[string]any `json:"path_params,omitempty"`
	Query    map[string]any `json:"query,omitempty"`
	Body     any            `json:"body,omitempty"`
	Status   int            `json:"status"`
	Gives    []string       `json:"gives,omitempty"` // places of values in the answer
}

// RequestsAnswer are proposed requests.
type RequestsAnswer struct {
	Cases      []ProposedCase `json:"cases"`
	Suspicious bool           `json:"suspicious"`
}

// ProposedCase is one. A value is a literal, or an object with the one key "ref".
type ProposedCase struct {
	ID         string                     `json:"id"`
	Why        string                     `json:"why"`
	Needs      []string                   `json:"needs"`
	Route      int                        `json:"route"`
	PathParams map[string]json.RawMessage `json:"path_params"`
	Query      map[string]json.RawMessage `json:"query"`
	Auth       string                     `json:"auth"`
	Body       json.RawMessage            `json:"body"`
	Encoding   string                     `json:"encoding"`
}

// Suite asks for the tests of a change that has none.
var Suite = Prompt[SuiteInput, SuiteAnswer]{"suite", files}

// SuiteInput is what a model may use to write tests. Its texts are cut.
type SuiteInput struct {
	Repository string   `json:"repository"`
	Language   string   `json:"language"`
	Path       string   `json:"path"` // of the file that is asked for
	Subject    string   `json:"subject"`
	Body       string   `json:"body,omitempty"`
	Commits    []string `json:"commits,omitempty"` // subjects, oldest first
	Change     string   `json:"change"`            // a diff of the code
	BaseCode   string   `json:"base_code,omitempty"`
	TestFiles  []string `json:"test_files,omitempty"`
	Style      string   `json:"style,omitempty"`     // how one of them begins
	Forbidden  []string `json:"forbidden,omitempty"` // names that only the solution has, and the commits do not say
	Fault      string   `json:"fault,omitempty"`     // what was wrong with the file that was written before
}

// SuiteAnswer is a test file.
type SuiteAnswer struct {
	Content    string       `json:"content"`
	Tests      []TestedWish `json:"tests"`
	Suspicious bool         `json:"suspicious"`
}

// TestedWish is a test function, and what of the commits' wish it tests.
type TestedWish struct {
	Name      string `json:"name"`
	Behaviour string `json:"behaviour"`
}
