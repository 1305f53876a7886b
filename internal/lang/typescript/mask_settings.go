package typescript

import (
	"path"
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
	return edits
}
