package prompts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// schema is the part of JSON Schema that the answers need: closed objects of plain
// values. Any other keyword is an error, so that none is silently ignored.
type schema struct {
	Type                 string            `json:"type"`
	Description          string            `json:"description,omitempty"`
	Properties           map[string]schema `json:"properties,omitempty"`
	Required             []string          `json:"required,omitempty"`
	AdditionalProperties *bool             `json:"additionalProperties,omitempty"`
	Enum                 []string          `json:"enum,omitempty"`
	Pattern              string            `json:"pattern,omitempty"`
	MinLength            int               `json:"minLength,omitempty"`
	MaxLength            int               `json:"maxLength,omitempty"`
}

// check returns an error that names the first place where v does not match the schema.
func (s schema) check(at string, v any) error {
	switch s.Type {
	case "object":
		return s.object(at, v)
	case "string":
		return s.text(at, v)
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("%s: %T, want true or false", at, v)
		}
		return nil
	}
	return fmt.Errorf("%s: the schema has the unsupported type %q", at, s.Type)
}

func (s schema) object(at string, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %T, want an object", at, v)
	}
	if s.AdditionalProperties == nil || *s.AdditionalProperties {
		return fmt.Errorf("%s: the schema is not closed (additionalProperties: false)", at)
	}
	for _, name := range s.Required {
		if _, ok := m[name]; !ok {
			return fmt.Errorf("%s.%s is missing", at, name)
		}
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p, ok := s.Properties[name]
		if !ok {
			return fmt.Errorf("%s.%s is not in the schema", at, name)
		}
		if err := p.check(at+"."+name, m[name]); err != nil {
			return err
		}
	}
	return nil
}

func (s schema) text(at string, v any) error {
	t, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s: %T, want a text", at, v)
	}
	n := utf8.RuneCountInString(t)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, t):
		return fmt.Errorf("%s: %q is not one of %s", at, t, strings.Join(s.Enum, ", "))
	case n < s.MinLength:
		return fmt.Errorf("%s: %d characters, at least %d", at, n, s.MinLength)
	case s.MaxLength > 0 && n > s.MaxLength:
		return fmt.Errorf("%s: %d characters, at most %d", at, n, s.MaxLength)
	case s.Pattern == "":
		return nil
	}
	re, err := regexp.Compile(s.Pattern)
	if err != nil {
		return fmt.Errorf("%s: the schema's pattern: %w", at, err)
	}
	if !re.MatchString(t) {
		return fmt.Errorf("%s: does not match %s", at, s.Pattern)
	}
	return nil
}
