package python

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
)

var _ lang.Author = Language{}

// Place is in the folder with most test files, under the form of name that most of them have; in
// tests/ where there are none.
func (Language) Place(tests, _ []string, stem string) string {
	files, behind := map[string]int{}, map[string]int{}
	for _, p := range tests {
		name := strings.TrimSuffix(path.Base(p), ".py")
		last := strings.HasSuffix(name, "_test")
		if path.Ext(p) != ".py" || !last && !strings.HasPrefix(name, "test_") {
			continue
		}
		files[path.Dir(p)]++
		if last {
			behind[path.Dir(p)]++
		}
	}
	dirs := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(files[b]-files[a], len(a)-len(b), strings.Compare(a, b))
	})
	if len(dirs) == 0 {
		return path.Join("tests", "test_"+stem+".py")
	}
	if dir := dirs[0]; 2*behind[dir] > files[dir] {
		return path.Join(dir, stem+"_test.py")
	}
	return path.Join(dirs[0], "test_"+stem+".py")
}

// Reworded is a module that has the text of the file as digits, and runs it in its own name space.
func (Language) Reworded(p string, source []byte) (string, []byte, bool) {
	if path.Ext(p) != ".py" || path.Base(p) == "setup.py" {
		return "", nil, false
	}
	return p, fmt.Appendf(nil, "exec(compile(bytes.fromhex(%q), __file__, \"exec\", dont_inherit=True))\n", hex.EncodeToString(source)), true
}
