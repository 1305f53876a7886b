package java

import (
	"path"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
)

var _ mask.Settled = Masker{}

// IsSetting tells Maven's project files.
func (Masker) IsSetting(p string) bool { return path.Base(p) == "pom.xml" }

// strictness is where the compiler, or a checker inside of it, is told to take what it
// warns of for an error: every mask leaves imports, fields and parameters that nothing uses.
var strictness = lazyregexp.New(`<failOnWarning>\s*(true)\s*<|<(?:arg|compilerArg|compilerArgument)>\s*(-Werror)\s*<`)

// Soften has it warn only. There is no option that takes -Werror back.
func (Masker) Soften(_ string, source []byte) []mask.Edit {
	var edits []mask.Edit
	for _, m := range strictness.FindAllSubmatchIndex(source, -1) {
		if m[2] >= 0 {
			edits = append(edits, mask.Edit{Range: mask.Range{Start: m[2], End: m[3]}, Text: "false"})
		} else {
			edits = append(edits, mask.Edit{Range: mask.Range{Start: m[4], End: m[5]}, Text: "-nowarn"})
		}
	}
	return edits
}
