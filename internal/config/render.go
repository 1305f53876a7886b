package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Example is a commented configuration file with every key; it parses.
func Example() string {
	var b strings.Builder
	b.WriteString("# " + DefaultFile + ": every key, with its default unless the comment says otherwise.\n")
	defaults := Default()
	section := ""
	for _, k := range Keys {
		s, name := k.split()
		value := k.Example
		if value == "" {
			value = format(k.bind(defaults))
		}
		first := s != section
		if first && s != "" {
			fmt.Fprintf(&b, "\n# %s\n%s:\n", sections[s], s)
		} else if first {
			b.WriteString("\n")
		}
		section = s
		indent := map[bool]string{true: "", false: "  "}[s == ""]
		if k.source != nil {
			indent = map[bool]string{true: "  - ", false: "    "}[first]
		}
		fmt.Fprintf(&b, "%-46s # %s\n", indent+name+": "+value, k.Doc)
	}
	return b.String()
}

// Schema is the JSON Schema (2020-12) of the file, for editors.
func Schema() ([]byte, error) {
	root := object("benchmint configuration")
	for _, k := range Keys {
		section, name := k.split()
		into := root
		switch {
		case k.source != nil:
			into = sourceSchema(root)
		case section != "":
			into = child(root, section)
		}
		entry := schemaOf(k)
		// An empty word is "not set" and is in no closed set.
		if k.source == nil && format(k.zero()) != quote("") {
			entry["default"] = jsonDefault(k)
		}
		into["properties"].(map[string]any)[name] = entry
	}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	return json.MarshalIndent(root, "", "  ")
}

func object(doc string) map[string]any {
	return map[string]any{"type": "object", "description": doc, "additionalProperties": false, "properties": map[string]any{}}
}

func child(root map[string]any, name string) map[string]any {
	properties := root["properties"].(map[string]any)
	if _, ok := properties[name]; !ok {
		properties[name] = object(sections[name])
	}
	return properties[name].(map[string]any)
}

func sourceSchema(root map[string]any) map[string]any {
	properties := root["properties"].(map[string]any)
	if _, ok := properties["sources"]; !ok {
		entry := object("one repository")
		entry["required"] = []string{"git"}
		properties["sources"] = map[string]any{"type": "array", "description": sections["sources"], "items": entry}
	}
	return properties["sources"].(map[string]any)["items"].(map[string]any)
}

// jsonDefault is a key's default in JSON: sizes and durations as they are written.
func jsonDefault(k Key) any {
	switch p := k.zero().(type) {
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
	default:
		return format(p)
	}
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
