package schemas

import "testing"

func TestRecordPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, want string }{
		{"a/b.py", "a/b.py"},
		{"café.py", "café.py"},
		{"caf\xe9.py", `"caf\xe9.py"`},
		{`"caf\xe9.py"`, `"\"caf\\xe9.py\""`},
	} {
		if got := RecordPath(tc.path); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.path, got, tc.want)
		}
	}
}
