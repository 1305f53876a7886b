package python

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// A tree that is a package itself: its name stands in its imports alone.
func TestMaskRooted(t *testing.T) {
	t.Parallel()
	const tools = "-- utils/__init__.py --\n-- utils/text.py --\ndef f(): return 1\ndef g(): return 2\n-- utils/other.py --\ndef h(): return 1\ndef k(): return 2\n"
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
		"imports_by_the_full_name": {
			"-- __init__.py --\nfrom lib.utils.text import f\nf()\n-- start.py --\nimport lib.utils.other\nlib.utils.other.h()\n" + tools,
			"h f",
		},
		"imports_without_the_name": {
			"-- __init__.py --\nfrom .utils.text import f\nf()\n-- start.py --\nfrom . import utils\nfrom .utils import other\nother.h()\n" + tools,
			"h f",
		},
		"what_the_package_has_itself": {
			"-- __init__.py --\nfrom lib.utils.text import g\nfrom lib.utils.other import k\ndef own(): return 1\ndef more(): return 2\n-- start.py --\nimport lib\nlib.own()\n" + tools,
			"own",
		},
		"one_name_of_others_is_like_one_of_its_modules": {
			"-- __init__.py --\n-- start.py --\nfrom os.path import f\nf()\n-- path.py --\ndef f(): return 1\n",
			"",
		},
		"a_project_with_a_file_like_a_package": {
			"-- __init__.py --\nfrom lib.utils.text import f\nfrom lib.utils.other import h\n-- setup.py --\n-- start.py --\nfrom lib.utils.text import f\nf()\n" + tools,
			"",
		},
	})
}
