package routes

import (
	"slices"
	"strings"
)

func stringMethod(s, name string, c *pyCall) pyValue {
	cut, _ := c.text(0)
	switch name {
	case "lower":
		return strings.ToLower(s)
	case "upper":
		return strings.ToUpper(s)
	case "strip", "rstrip", "lstrip":
		if cut == "" {
			cut = " \t\n"
		}
		switch name {
		case "rstrip":
			return strings.TrimRight(s, cut)
		case "lstrip":
			return strings.TrimLeft(s, cut)
		}
		return strings.Trim(s, cut)
	case "replace":
		to, ok := c.text(1)
		if ok && cut != "" && len(s)*(len(to)+1) < maxText {
			return strings.ReplaceAll(s, cut, to)
		}
	case "removeprefix":
		return strings.TrimPrefix(s, cut)
	case "removesuffix":
		return strings.TrimSuffix(s, cut)
	case "startswith":
		return strings.HasPrefix(s, cut)
	case "endswith":
		return strings.HasSuffix(s, cut)
	case "split":
		if cut != "" {
			out := &pySequence{}
			for part := range strings.SplitSeq(s, cut) {
				out.items = append(out.items, part)
			}
			return out
		}
	case "join":
		var parts []string
		if len(c.args) != 1 {
			return nil
		}
		seq, ok := c.args[0].(*pySequence)
		if !ok {
			return nil
		}
		for _, i := range seq.items {
			part, ok := i.(string)
			if !ok {
				return nil
			}
			parts = append(parts, part)
		}
		if out := strings.Join(parts, s); len(out) < maxText {
			return out
		}
	case "format":
		return formatText(s, c)
	}
	return nil
}

// format fills {} and {name}.
func formatText(s string, c *pyCall) pyValue {
	for _, a := range c.args {
		text, ok := a.(string)
		if !ok || !strings.Contains(s, "{}") {
			return nil
		}
		s = strings.Replace(s, "{}", text, 1)
	}
	for _, k := range c.names {
		text, ok := c.named[k].(string)
		if !ok {
			return nil
		}
		if s = strings.ReplaceAll(s, "{"+k+"}", text); len(s) > maxText {
			return nil
		}
	}
	return s
}

func sequenceMethod(s *pySequence, name string, c *pyCall) pyValue {
	if len(s.items) > maxItems {
		return nil
	}
	switch {
	case (name == "append" || name == "add") && len(c.args) == 1:
		s.items = append(s.items, c.args[0])
	case name == "extend" && len(c.args) == 1:
		s.items = append(s.items, itemsOf(c.args[0])...)
	case name == "insert" && len(c.args) == 2:
		s.items = append([]pyValue{c.args[1]}, s.items...)
	case name == "copy":
		return &pySequence{slices.Clone(s.items)}
	}
	return pyNone{}
}

func dictionaryMethod(d *pyDictionary, name string, c *pyCall) pyValue {
	switch name {
	case "get", "pop", "setdefault":
		if len(c.args) == 0 {
			return nil
		}
		if v, ok := d.get(c.args[0]); ok {
			return v
		}
		if len(c.args) > 1 {
			return c.args[1]
		}
		return pyNone{}
	case "keys":
		return &pySequence{slices.Clone(d.keys)}
	case "values":
		return &pySequence{slices.Clone(d.values)}
	case "items":
		out := &pySequence{}
		for i, k := range d.keys {
			out.items = append(out.items, &pySequence{[]pyValue{k, d.values[i]}})
		}
		return out
	case "update":
		for _, k := range c.names {
			d.set(k, c.named[k])
		}
		if len(c.args) == 1 {
			if other, ok := c.args[0].(*pyDictionary); ok {
				for i, k := range other.keys {
					d.set(k, other.values[i])
				}
			}
		}
	}
	return pyNone{}
}
