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
