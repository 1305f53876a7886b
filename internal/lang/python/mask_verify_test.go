package python

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
)

func TestImportable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		files        map[string]string
		names, roots []string
	}{
		{"flat", map[string]string{
			"setup.py": "", "six.py": "", "shop/__init__.py": "", "shop/cart.py": "", "shop/__main__.py": "", "shop/tests/test_a.py": "def test_a(): 1",
			"docs/conf.py": "", "scripts/run.py": "", "shop/not-a-name.py": "",
		}, []string{"shop", "shop.cart", "six"}, []string{"."}},
		{"src", map[string]string{"src/shop/__init__.py": "", "src/shop/a.py": "", "src/loose.py": "", "src/space/deep/b.py": "", "tests/test_a.py": ""},
			[]string{"loose", "shop", "shop.a", "space.deep.b"}, []string{"src"}},
		{"a_folder_for_packages", map[string]string{"lib/shop/__init__.py": "from shop import a", "lib/shop/a.py": ""}, []string{"shop", "shop.a"}, []string{"lib"}},
		{"a_namespace", map[string]string{"google/cloud/shop/__init__.py": "from google.cloud.shop import a\nfrom google.cloud.shop.a import b", "google/cloud/shop/a.py": ""},
			[]string{"google.cloud.shop", "google.cloud.shop.a"}, []string{"."}},
		{"two_projects", map[string]string{"one/src/a/__init__.py": "", "two/b/__init__.py": "import b"}, []string{"a", "b"}, []string{"one/src", "two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			m := &mask.Manifest{}
			for p, text := range c.files {
				at := filepath.Join(root, p)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				m.Files = append(m.Files, mask.Record{Path: p, Language: Name, Before: "x", After: "x"})
			}
			slices.SortFunc(m.Files, func(a, b mask.Record) int { return strings.Compare(a.Path, b.Path) })
			names, roots := importable(verify.NewTree(root, m, Name), slices.Sorted(maps.Keys(c.files)))
			if diff := cmp.Diff([][]string{c.names, c.roots}, [][]string{names, roots}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
