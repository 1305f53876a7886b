package mask

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForeignOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, want string }{
		{"src/markupsafe/_speedups.c", "C"}, {"include/a.h", "C"}, {"a/A.HPP", "C++"}, {"pkg/algos.pyx", "Cython"}, {"pkg/algos.pxd", "Cython"},
		{"core/loops.c.src", "C"}, {"lib/hash.pxi.in", "Cython"}, {"api/v1/a.proto", "Protocol Buffer"}, {"a/kernel.cu", "Cuda"},
		{"src/fit.F90", "Fortran"}, {"app/Main.vue", "Vue"}, {"latest/a.c", "C"}, {"contest/latest.c", "C"}, {"perf.c", "C"},
		// No sources, or none that a starter could lack.
		{"README.md", ""}, {"data.json", ""}, {"style.css", ""}, {"schema.sql", ""}, {"install.sh", ""}, {"config.in", ""},
		{"Makefile", ""}, {"CMakeLists.txt", ""}, {"build.gradle.kts", ""}, {"Setup.hs", ""},
		{"tests/a.c", ""}, {"src/test/a.c", ""}, {"src/test_a.c", ""}, {"src/a_test.cc", ""}, {"src/CartTest.kt", ""}, {"spec/a.cr", ""}, {"t/a.pl", ""},
		{"docs/a.c", ""}, {"examples/a.c", ""}, {"benchmarks/a.c", ""}, {"scripts/a.pl", ""},
	} {
		got := ""
		if f := foreignOf(c.path); f != nil {
			got = f.name
		}
		if got != c.want {
			t.Errorf("%s is a source of %q, want %q", c.path, got, c.want)
		}
	}
	seen := map[string]string{}
	for _, f := range foreigners {
		for ending := range strings.FieldsSeq(f.endings) {
			if other, ok := seen[ending]; ok || !strings.HasPrefix(ending, ".") || ending != strings.ToLower(ending) {
				t.Errorf("%s of %s: it is of %q, or never found", ending, f.name, other)
			}
			seen[ending] = f.name
		}
	}
}

func TestForeignLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, source string
		want         int
	}{
		{"a.c", "", 0},
		{"a.c", "int x;", 1},
		{"a.c", "/* a */\n\n  // b\n\t\n#include <a.h>\r\nint f() { /* c */\n}\n", 3},
		{"a.c", "/* a\n int x;\n*/ int y;\n/* b */ /* c\n*/\n/**/int z;\n", 2},
		{"a.c", "char *s = \"/*\";\nint x;\n", 2},
		{"a.c", "/*/ int x; */\n/*\n", 0},
		{"a.pyx", "# a\ncdef int f():\n    return 1 # b\n", 2},
		{"a.pas", "{ a\n}\n{\nb }\nx := 1;\n", 1},
		{"a.hs", "{- a\n-}\n-- b\nx = 1\n", 1},
		{"a.lua", "--[[ a\nx\n]]\n-- b\nx = 1\n", 1},
	} {
		if diff := cmp.Diff(c.want, foreignOf(c.path).lines([]byte(c.source))); diff != "" {
			t.Errorf("%s: %q: lines, -want +got:\n%s", c.path, c.source, diff)
		}
	}
}
