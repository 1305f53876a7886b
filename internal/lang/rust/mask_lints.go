package rust

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

var _ mask.Settled = Masker{}

// lint softens what an attribute denies or forbids of what every mask leaves behind: parameters that nothing reads, functions
// that nothing calls, imports that nothing uses. A file knows nothing of the others of its crate, so it does not matter what
// is masked here.
func (r *reader) lint(n syntax.Node) {
	for id := range n.Within() {
		if !id.Is("identifier") || id.Text() != "deny" && id.Text() != "forbid" {
			continue
		}
		rest := string(n.Tree().Source[id.End():n.End()])
		if end := strings.IndexByte(rest, ')'); end >= 0 && unused.MatchString(rest[:end]) {
			r.lints = append(r.lints, mask.Edit{Range: mask.Range{Start: id.Start(), End: id.End()}, Text: "warn"})
		}
	}
}

// unused are lints, and groups of them, that what is left of a masked crate trips.
var unused = lazyregexp.New(`[(\s,](` + unusedNames + `)[\s,]*(,|$)`)

const unusedNames = `warnings|unused[\w-]*|dead[_-]code|unreachable[_-]\w+|private[_-]interfaces|unfulfilled[_-]lint[_-]expectations`

// IsSetting tells Cargo's manifests and settings.
func (Masker) IsSetting(p string) bool {
	name := path.Base(p)
	return name == "Cargo.toml" || path.Base(path.Dir(p)) == ".cargo" && (name == "config.toml" || name == "config")
}

var (
	// Settings give the compiler's flags, in one text or in several.
	flag = lazyregexp.New(`(?:^|["'\s])(-[DF]|--deny|--forbid)(?:[\s=]*|["']\s*,\s*["'])(?:` + unusedNames + `)\b`)
	// Manifests have the lints in tables of their own, [lints.rust] as a rule.
	header = lazyregexp.New(`^\s*\[([^\]]*)\]`)
	level  = lazyregexp.New(`^\s*([\w."' \t-]+?)\s*=\s*(?:\{.*\blevel\s*=\s*)?["'](deny|forbid)["']`)
	denied = lazyregexp.New(`^(?:workspace\.)?lints\.rust\.(?:` + unusedNames + `)(?:\.level)?$`)
)

// Soften makes warn of what denies in them, as lint does in code.
func (Masker) Soften(p string, source []byte) []mask.Edit {
	var edits []mask.Edit
	if path.Base(p) != "Cargo.toml" {
		for _, at := range flag.FindAllSubmatchIndex(source, -1) {
			text := "-W"
			if at[3]-at[2] > len(text) {
				text = "--warn"
			}
			edits = append(edits, mask.Edit{Range: mask.Range{Start: at[2], End: at[3]}, Text: text})
		}
		return edits
	}
	table, start := "", 0
	for line := range strings.Lines(string(source)) {
		if m := header.FindStringSubmatch(line); m != nil {
			table = m[1] + "."
		} else if at := level.FindStringSubmatchIndex(line); at != nil && denied.MatchString(bare.Replace(table+line[at[2]:at[3]])) {
			edits = append(edits, mask.Edit{Range: mask.Range{Start: start + at[4], End: start + at[5]}, Text: "warn"})
		}
		start += len(line)
	}
	return edits
}

// bare makes a key of what may be quoted and spaced.
var bare = strings.NewReplacer(`"`, "", "'", "", " ", "", "\t", "")
