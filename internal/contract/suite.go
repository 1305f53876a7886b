package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// maxSuite bounds the file of a suite, in bytes.
const maxSuite = 32 << 20

var (
	caseID    = lazyregexp.New(`^[a-z0-9_]{3,80}$`)
	groupName = lazyregexp.New(`^[A-Za-z0-9._~-]{1,80}$`)
)

// ConnectName is the unit of the test that asks whether a service answers. No group has it.
const ConnectName = "connect"

// GroupName is a first segment of a path as the name of a group: it stands in test IDs. A path
// without one is of the group root.
func GroupName(segment string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && groupName.MatchString(string(r)) {
			return r
		}
		return '_'
	}, segment)
	switch name {
	case "":
		return "root"
	case ConnectName:
		return name + "_"
	}
	return name[:min(len(name), 80)]
}

// Encode is the file of a suite: equal suites have equal bytes. It fails where Validate does.
func Encode(s Suite) ([]byte, error) {
	if err := Validate(s); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(s); err != nil {
		return nil, fmt.Errorf("encoding the cases: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads the file of a suite and validates it. It refuses fields that it does not know.
func Decode(data []byte) (Suite, error) {
	if len(data) > maxSuite {
		return Suite{}, fmt.Errorf("the cases are longer than %d bytes", maxSuite)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	d.DisallowUnknownFields()
	var s Suite
	if err := d.Decode(&s); err != nil {
		return Suite{}, fmt.Errorf("decoding the cases: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Suite{}, fmt.Errorf("decoding the cases: something follows them")
	}
	return s, Validate(s)
}

// Validate reports the first fault of a suite: IDs that are not unique, needs and references that
// do not point to a case before, and matchers that are not of the closed set.
func Validate(s Suite) error {
	if s.Format != Format {
		return fmt.Errorf("the format is %q, not %q", s.Format, Format)
	}
	for _, p := range s.Ready {
		if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "{} \r\n") {
			return fmt.Errorf("the ready path %q is not a path without parameters", p)
		}
	}
	names := map[string]bool{}
	for _, g := range s.Groups {
		if g == nil || !groupName.MatchString(g.Name) || g.Name == ConnectName {
			return fmt.Errorf("a group has no name, or one that is not a word")
		}
		if names[g.Name] {
			return fmt.Errorf("group %s is given more than once", g.Name)
		}
		names[g.Name] = true
		before := map[string]bool{}
		for _, c := range g.Cases {
			if err := validCase(c, before); err != nil {
				return fmt.Errorf("group %s, case %s: %w", g.Name, c.ID, err)
			}
			before[c.ID] = true
		}
	}
	return nil
}

var kinds = []Kind{Happy, Anonymous, Empty, Missing, Malformed, Deleted, Duplicate, Other, Extra, Mail}

func validCase(c Case, before map[string]bool) error {
	switch {
	case !caseID.MatchString(c.ID):
		return fmt.Errorf("the ID is not 3 to 80 characters of a-z, 0-9 and _")
	case before[c.ID]:
		return fmt.Errorf("the ID is given more than once")
	case !slices.Contains(kinds, c.Kind):
		return fmt.Errorf("the kind %q is not known", c.Kind)
	case c.Kind == Mail && c.Expect != nil:
		return fmt.Errorf("what was sent by mail is judged")
	case c.Endpoint.Method == "":
		return fmt.Errorf("the endpoint has no method")
	}
	for _, n := range c.Needs {
		if !before[n] {
			return fmt.Errorf("it needs %s, which is not a case before it", n)
		}
	}
	if err := validRequest(c.Request, before); err != nil {
		return err
	}
	return validExpect(c, before)
}

func validRequest(r Request, before map[string]bool) error {
	if !strings.HasPrefix(r.Path, "/") {
		return fmt.Errorf("the path %q does not begin with a slash", r.Path)
	}
	if r.Encoding != "" && !slices.Contains([]string{"json", "form", "raw"}, r.Encoding) {
		return fmt.Errorf("the encoding %q is not json, form or raw", r.Encoding)
	}
	for _, m := range []map[string]any{r.Params, r.Query, r.Headers} {
		if _, is := m[RefKey]; is {
			return fmt.Errorf("a reference stands where an object belongs")
		}
		for _, v := range m {
			if err := validValue(v, before, 0); err != nil {
				return err
			}
		}
	}
	return validValue(r.Body, before, 0)
}

// validValue checks the references in a value.
func validValue(v any, before map[string]bool, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("a value is nested too deeply")
	}
	switch v := v.(type) {
	case map[string]any:
		if _, is := v[RefKey]; is {
			ref, form, ok := AsRef(v)
			if _, formed := v[FormKey]; !ok || formed && !strings.Contains(form, "%s") {
				return fmt.Errorf("a reference has other keys than %s and %s with %%s", RefKey, FormKey)
			}
			return validRef(ref, before, "")
		}
		for _, e := range v {
			if err := validValue(e, before, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := validValue(e, before, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

var refSyntax = lazyregexp.New(`^([a-z0-9_]{3,80}):(body(?:/.*)?|header/[A-Za-z0-9-]+(?:/last)?|cookie/.+|request/(?:params|query|headers|body)(?:/.*)?)$`)

// validRef checks one reference. own is the case whose answer is matched: its request is known
// then.
func validRef(ref string, before map[string]bool, own string) error {
	parts := refSyntax.FindStringSubmatch(ref)
	if parts == nil {
		return fmt.Errorf("the reference %q is not CASE:PLACE", ref)
	}
	if !before[parts[1]] && (parts[1] != own || !strings.HasPrefix(parts[2], "request/")) {
		return fmt.Errorf("the reference %s does not lead to a case before it", ref)
	}
	return nil
}

func validExpect(c Case, before map[string]bool) error {
	e := c.Expect
	if e == nil {
		return nil
	}
	if e.Status < 100 || e.Status >= 500 {
		return fmt.Errorf("the status %d is not one to expect", e.Status)
	}
	for _, m := range []*Matcher{e.Location, e.Body} {
		if m == nil {
			continue
		}
		if err := validMatcher(m, before, c.ID, 0); err != nil {
			return err
		}
	}
	return nil
}

var types = []string{kindString, kindInteger, kindNumber, kindBoolean, kindArray, kindObject, kindNull}

func validMatcher(m *Matcher, before map[string]bool, own string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("a matcher is nested too deeply")
	}
	if m == nil {
		return fmt.Errorf("a matcher is null")
	}
	set := 0
	for _, is := range []bool{m.Equal != nil, m.Type != "", m.Ref != "", m.Form != "", len(m.Object) > 0, len(m.List) > 0, len(m.Set) > 0} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return fmt.Errorf("a matcher has %d fields, not one", set)
	case m.Equal != nil && *m.Equal == nil:
		return fmt.Errorf("a matcher is equal to null: that is the type null")
	case m.Type != "" && !slices.Contains(types, m.Type):
		return fmt.Errorf("the type %q is not known", m.Type)
	case m.Form != "" && forms[m.Form] == nil:
		return fmt.Errorf("the form %q is not known", m.Form)
	case m.Ref != "":
		return validRef(m.Ref, before, own)
	}
	for k := range m.Object {
		if err := validMatcher(m.Object[k], before, own, depth+1); err != nil {
			return err
		}
	}
	for _, child := range slices.Concat(m.List, m.Set) {
		if err := validMatcher(child, before, own, depth+1); err != nil {
			return err
		}
	}
	return nil
}
