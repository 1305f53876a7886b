package routes

import (
	"fmt"
	"strings"
)

// String is one line: method, path, handler, who is asked for, and what is sent. A question
// mark stands behind what need not be sent.
func (r Route) String() string {
	handler := r.Handler.Path + "::" + r.Handler.Name
	if r.Handler.Name == "" {
		handler = r.At
	}
	auth := r.Auth
	if auth == "" {
		auth = "-"
	}
	out := []string{r.Method, r.Path, handler, auth}
	if len(r.Params) > 0 {
		out = append(out, "path("+fieldTexts(r.Params)+")")
	}
	if len(r.Query) > 0 {
		out = append(out, "query("+fieldTexts(r.Query)+")")
	}
	if r.Body != nil {
		out = append(out, r.Body.Encoding+" "+r.Body.Type+"("+fieldTexts(r.Body.Fields)+")")
	}
	return strings.Join(out, " ")
}

func fieldTexts(all []Field) string {
	var out []string
	for _, f := range all {
		out = append(out, f.String())
	}
	return strings.Join(out, ", ")
}

func (f Field) String() string {
	s := f.Name
	if !f.Required {
		s += "?"
	}
	s += ":" + f.Type
	if f.Format != "" {
		s += "/" + f.Format
	}
	if len(f.Enum) > 0 {
		s += "<" + strings.Join(f.Enum, "|") + ">"
	}
	if f.Min != nil {
		s += fmt.Sprintf(" ≥%g", *f.Min)
	}
	if f.Max != nil {
		s += fmt.Sprintf(" ≤%g", *f.Max)
	}
	if f.Pattern != "" {
		s += " ~" + f.Pattern
	}
	if f.Example != nil {
		s += fmt.Sprintf(" =%v", f.Example)
	}
	if len(f.Fields) > 0 {
		s += "{" + fieldTexts(f.Fields) + "}"
	}
	if f.Items != nil {
		s += "[" + f.Items.String() + "]"
	}
	return s
}
