package githubtest

import (
	"bytes"
	"compress/gzip"
	_ "embed" // what GitHub publishes
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

//go:embed testdata/openapi.json.gz
var openAPI []byte

//go:embed testdata/schema.graphql.gz
var graphQL []byte

// spec is what GitHub publishes of its API.
type spec struct {
	doc    *openapi3.T
	router routers.Router
	schema *ast.Schema
}

// published reads it once. It is a constant of the tests: what cannot be read is a fault of
// this package.
var published = sync.OnceValue(func() *spec {
	doc, err := openapi3.NewLoader().LoadFromData(plain(openAPI))
	if err != nil {
		panic(err)
	}
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	parsed, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: "github", Input: string(plain(graphQL))})
	if err != nil {
		panic(err)
	}
	for _, d := range parsed.Definitions { // this release defines two fields twice
		seen := map[string]bool{}
		var fields ast.FieldList
		for _, f := range d.Fields {
			if !seen[f.Name] {
				fields = append(fields, f)
			}
			seen[f.Name] = true
		}
		d.Fields = fields
	}
	schema, err := validator.ValidateSchemaDocument(parsed)
	if err != nil {
		panic(err)
	}
	return &spec{doc, router, schema}
})

func plain(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return b
}

// example is GitHub's own sample of an answer.
func (s *spec) example(path string) any {
	for _, e := range s.doc.Paths.Value(path).Get.Responses.Status(http.StatusOK).Value.Content.Get("application/json").Examples {
		b, err := json.Marshal(e.Value.Value)
		if err != nil {
			panic(err)
		}
		var out any
		if err := json.Unmarshal(b, &out); err != nil {
			panic(err)
		}
		return out
	}
	panic("no example of " + path)
}

// check compares a question and its answer with the description.
func (s *spec) check(req *http.Request, status int, body []byte) error {
	// Defaults are filled into what is validated.
	req = req.Clone(req.Context())
	route, params, err := s.router.FindRoute(req)
	if err != nil {
		return err
	}
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: options}
	if err := openapi3filter.ValidateRequest(req.Context(), in); err != nil {
		return fmt.Errorf("the question: %w", err)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Options: options}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(req.Context(), out); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	return nil
}

// Price is what GitHub asks for a question: each connection is read once for every node
// above it; a point is a hundred of these, and a question costs one at least
// (docs.github.com, "Rate limits for the GraphQL API").
func Price(query string) (nodes, points int, err error) {
	doc, errs := gqlparser.LoadQueryWithRules(published().schema, query, nil)
	if errs != nil {
		return 0, 0, errs
	}
	nodes, points = price(doc)
	return nodes, points, nil
}

func price(doc *ast.QueryDocument) (nodes, points int) {
	read := 0
	var walk func(set ast.SelectionSet, above int)
	walk = func(set ast.SelectionSet, above int) {
		for _, x := range set {
			switch f := x.(type) {
			case *ast.Field:
				n := above
				if strings.HasSuffix(f.Definition.Type.Name(), "Connection") {
					read += above
					n = above * first(f)
					nodes += n
				}
				walk(f.SelectionSet, n)
			case *ast.InlineFragment:
				walk(f.SelectionSet, above)
			case *ast.FragmentSpread:
				walk(f.Definition.SelectionSet, above)
			}
		}
	}
	for _, o := range doc.Operations {
		walk(o.SelectionSet, 1)
	}
	const each, half = 100, 50
	return nodes, max(1, (read+half)/each)
}
