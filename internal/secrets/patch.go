package secrets

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// header is the line that each file of a git patch begins with. Of a name in quotes the
// escapes are left as they are: it is shown, and compared with what a user allows.
var header = lazyregexp.New(`^diff --git "?a/(?:.*) "?b/(.*?)"?$`)

// ScanPatch finds the credentials in a patch of git's: in what it adds, what it takes
// away and what stands around, all of which it spreads. Lines are those of the patch.
// Bytes in base85 are not read.
func ScanPatch(patch []byte) []Finding {
	var out []Finding
	line := 0
	for _, section := range sections(string(patch)) {
		path := ""
		first, _, _ := strings.Cut(section, "\n")
		if m := header.FindStringSubmatch(first); m != nil {
			path = m[1]
		}
		text, _, _ := strings.Cut(section, "\nGIT binary patch\n")
		for _, f := range Scan(path, text) {
			f.Line += line
			out = append(out, f)
		}
		line += strings.Count(section, "\n")
	}
	return out
}

// sections are the files of a patch.
func sections(patch string) []string {
	const begin = "\ndiff --git "
	var out []string
	for {
		at := strings.Index(patch, begin)
		if at < 0 {
			return append(out, patch)
		}
		out = append(out, patch[:at+1])
		patch = patch[at+1:]
	}
}
