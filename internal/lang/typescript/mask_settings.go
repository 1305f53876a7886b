package typescript

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/jsonc"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
)

var _ mask.Settled = Masker{}

// IsSetting tells the compiler's settings, by the names that they mostly have.
func (Masker) IsSetting(p string) bool {
	base := path.Base(p)
	return strings.HasSuffix(base, ".json") && strings.Contains(base, "tsconfig")
}

// unused are settings by which the compiler refuses names that are used no more, as those
// are that only masked bodies use, and what stands there where it does not.
var (
	unused   = lazyregexp.New(`"(noUnusedLocals|noUnusedParameters|importsNotUsedAsValues)"\s*:\s*(true|"error")`)
	instead  = map[string]string{"true": "false", `"error"`: `"preserve"`}
	ofValues = "importsNotUsedAsValues"
)

// Soften lets a name be there for nothing. Imports stay imports, with what they run.
func (Masker) Soften(_ string, source []byte) []mask.Edit {
	var edits []mask.Edit
	code := jsonc.ToJSON(source) // comments are blank, and everything is where it was
	for _, at := range unused.FindAllSubmatchIndex(code, -1) {
		name, value := string(code[at[2]:at[3]]), string(code[at[4]:at[5]])
		if (name == ofValues) == (value == "true") {
			continue // nobody can say so
		}
		edits = append(edits, mask.Edit{Range: mask.Range{Start: at[4], End: at[5]}, Text: instead[value]})
	}
	return append(edits, overridden(code)...)
}

// overridden says what settings from a package are to say: they are no part of the tree, and
// may refuse. The settings beside it win.
func overridden(code []byte) []mask.Edit {
	mark := len(code) - len(bytes.TrimPrefix(code, []byte("\xef\xbb\xbf")))
	code = code[mark:]
	var said struct {
		Extends json.RawMessage
		Options map[string]json.RawMessage `json:"compilerOptions"`
	}
	if json.Unmarshal(code, &said) != nil || !ofPackages(said.Extends) {
		return nil
	}
	var more []string
	for _, name := range []string{"noUnusedLocals", "noUnusedParameters"} {
		if _, ok := said.Options[name]; !ok {
			more = append(more, `"`+name+`": false`)
		}
	}
	at, within := optionsAt(code)
	if at < 0 || len(more) == 0 {
		return nil
	}
	text := strings.Join(more, ", ")
	if !within {
		text = `"compilerOptions": {` + text + "}"
	}
	if !within || len(said.Options) > 0 {
		text += ", "
	}
	return []mask.Edit{{Range: mask.Range{Start: mark + at, End: mark + at}, Text: text}}
}

// ofPackages tells what extends settings that go by no path.
func ofPackages(extends json.RawMessage) bool {
	var list []string
	var one string
	if json.Unmarshal(extends, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(extends, &list) != nil {
		return false
	}
	return slices.ContainsFunc(list, func(s string) bool { return s != "" && s[0] != '.' && s[0] != '/' })
}

// optionsAt is where the options of the compiler begin, or what may hold them; less than 0
// where neither can be.
func optionsAt(code []byte) (at int, within bool) {
	d := json.NewDecoder(bytes.NewReader(code))
	if _, err := d.Token(); err != nil {
		return -1, false
	}
	at = int(d.InputOffset())
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return -1, false
		}
		if key == "compilerOptions" {
			if value, err := d.Token(); err != nil || value != json.Delim('{') {
				return -1, false
			}
			return int(d.InputOffset()), true
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return -1, false
		}
	}
	return at, false
}
