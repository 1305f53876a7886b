package golang

import "testing"

func TestAuthor(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"shop.go": "x_test.go", "a/b/shop.go": "a/b/x_test.go"} {
		if got := (Language{}).Place(nil, []string{code, "z.go"}, "x"); got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
	for p, want := range map[string]string{"shop.go": "rewordedshop.go", "a/b_linux.go": "a/rewordedb_linux.go", "linux.go": "rewordedlinux.go", "a_test.go": "", "go.mod": ""} {
		as, data, ok := Language{}.Reworded(p, []byte("package a\n"))
		if as != want || ok != (want != "") || ok && string(data) != "package a\n" {
			t.Errorf("%s: %s, %t, %q", p, as, ok, data)
		}
	}
}
