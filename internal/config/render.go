package config

import (
	"github.com/benchmint/benchmint/schemas"

	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Example is a commented configuration file with every key; it parses, and is the same as
// no file.
func Example() string {
	var b strings.Builder
	b.WriteString("# " + DefaultFile + ": every key with its default. Lines that are commented out are samples.\n")
	defaults := Default()
	section := ""
	for _, k := range Keys {
		s, name := k.split()
		value, doc := k.Example, k.Doc
		if k.source == nil {
			value = format(k.bind(defaults))
		}
		if k.source == nil && k.Example != "" {
			doc += "; for example " + k.Example
		}
		first := s != section
		if first && s != "" {
			fmt.Fprintf(&b, "\n# %s\n%s%s:\n", sections[s], sample(k), s)
		} else if first {
			b.WriteString("\n")
		}
		section = s
		indent := map[bool]string{true: "", false: "  "}[s == ""]
		if k.source != nil {
			indent = map[bool]string{true: "  - ", false: "    "}[first || k.Alone]
		}
		fmt.Fprintf(&b, "%-46s # %s\n", sample(k)+indent+name+": "+value, doc)
	}
	return b.String()
}

// sample comments a key out that has no default: those of a source.
func sample(k Key) string {
	if k.source != nil {
		return "# "
	}
	return ""
}

// Schema is the JSON Schema (2020-12) of the file, for editors.
func Schema() ([]byte, error) {
	root := object("benchmint configuration")
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	for _, k := range Keys {
		entry := schemaOf(k)
		// An empty word is "not set" and is in no closed set.
		if k.source == nil && format(k.zero()) != quote("") {
			var err error
			if entry.Default, err = json.Marshal(jsonOf(k.zero())); err != nil {
				return nil, err
			}
		}
		section, name := k.split()
		into := root
		switch {
		case k.source != nil:
			into = sourceSchema(root)
		case section != "":
			into = child(root, section)
		}
		into.Properties[name] = entry
	}
	return json.MarshalIndent(root, "", "  ")
}

// object is an object with no other properties than those that it is given later.
func object(doc string) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Description: doc, Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, // false
	}
}

func child(root *jsonschema.Schema, name string) *jsonschema.Schema {
	if root.Properties[name] == nil {
		root.Properties[name] = object(sections[name])
	}
	return root.Properties[name]
}

func sourceSchema(root *jsonschema.Schema) *jsonschema.Schema {
	if root.Properties["sources"] == nil {
		entry := object("one repository, or several that are found")
		for _, name := range []string{"git", "github", "search", "list", "preset", "pypi"} {
			entry.AnyOf = append(entry.AnyOf, &jsonschema.Schema{Required: []string{name}})
		}
		root.Properties["sources"] = &jsonschema.Schema{Type: "array", Description: sections["sources"], Items: entry}
	}
	return root.Properties["sources"].Items
}

// jsonOf is a value in JSON: sizes, durations and dates as they are written.
func jsonOf(ptr any) any {
	switch p := ptr.(type) {
	case *string:
		return *p
	case *int:
		return *p
	case *float64:
		return *p
	case *bool:
		return *p
	case *[]string:
		return *p
	case *Date:
		return p.String()
	case *Search:
		return p.fields()
	case *Projects:
		return p.value()
	case *Prices:
		return p.json()
	case *Shares:
		return p.json()
	}
	return format(ptr)
}

// Show is the effective configuration as a file, each value with its origin.
func (c *Config) Show() string {
	var b strings.Builder
	section := ""
	for _, v := range c.Values() {
		s, name, ok := strings.Cut(v.Key, ".")
		if !ok {
			s, name = "", v.Key
		}
		entry := strings.HasPrefix(s, "sources[")
		first := s != section
		switch {
		case first && entry && !strings.HasPrefix(section, "sources["):
			b.WriteString("sources:\n")
		case first && s != "" && !entry:
			b.WriteString(s + ":\n")
		}
		section = s
		indent := map[bool]string{true: "", false: "  "}[s == ""]
		if entry {
			indent = map[bool]string{true: "  - ", false: "    "}[first]
		}
		fmt.Fprintf(&b, "%-46s # %s\n", indent+name+": "+v.Value, v.Origin)
	}
	return b.String()
}

// Portable is the effective configuration without what names this machine: for
// manifests, which must be the same wherever a dataset is made. kind is the
// sandbox that was used.
func (c *Config) Portable(kind string) map[string]any {
	out := map[string]any{"sandbox.kind": kind}
	sources := make([]map[string]any, len(c.Sources))
	for i := range c.Sources {
		sources[i] = map[string]any{}
	}
	for _, k := range Keys {
		switch {
		case k.source == nil && k.IsPath, k.IsLocal, k.Path == "sandbox.kind":
		case k.Path == "as_of" && c.AsOf.IsZero(): // no day decides what is read
		case strings.HasPrefix(k.Path, "decontamination.") && len(c.Decontamination.Against) == 0: // held against nothing
		case strings.HasPrefix(k.Path, "balance.") && c.Balance.Tasks == 0: // all tasks are taken
		case k.Forge && !slices.ContainsFunc(c.Sources, func(s Source) bool { return s.GitHub != "" || s.Finds() }):
		case strings.HasPrefix(k.Path, "library.") && !c.Makes(schemas.KindLibrary): // they decide nothing
		case strings.HasPrefix(k.Path, "service.") && !c.Makes(schemas.KindService):
		case strings.HasSuffix(k.Path, "slices") && !c.Library.Sliced():
		case c.Model.Name == "" && strings.HasPrefix(k.Path, "model."): // nobody is asked
		case k.source == nil:
			out[k.Path] = jsonOf(k.bind(c))
		default:
			for i := range c.Sources {
				c.portableSource(k, i, sources[i])
			}
		}
	}
	out["sources"] = sources
	return out
}

// Makes reports whether tasks of a kind are made of any source.
func (c *Config) Makes(kind schemas.Kind) bool {
	return slices.ContainsFunc(c.Sources, func(s Source) bool { return c.makesOf(s, kind) })
}

// makesOf reports whether tasks of a kind are made of a source.
func (c *Config) makesOf(s Source, kind schemas.Kind) bool {
	kinds := s.Kinds
	if len(kinds) == 0 {
		kinds = c.Kinds
	}
	return slices.Contains(kinds, string(kind))
}

// portableSource leaves out what is not set, and paths: they mean something here only.
func (c *Config) portableSource(k Key, i int, into map[string]any) {
	_, name := k.split()
	_, set := c.origins[sourcePath(i, name)]
	if !set || k.IsPath || name == "git" && !IsURL(c.Sources[i].Git) || name == "pypi" && c.Sources[i].PyPI.File != "" {
		return
	}
	into[name] = jsonOf(k.source(&c.Sources[i]))
}
