package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The real client is tested where datasets are written: output/client_test.go.

// fake is a cache whose client is a shell script.
func fake(t *testing.T, script string) Options {
	t.Helper()
	cache := t.TempDir()
	dir := clients()[HuggingFaceName].dir(cache)
	if err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(dir, "bin", "python"), []byte("#!/bin/sh\n"+script), 0o755),
		os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644),
	); err != nil {
		t.Fatal(err)
	}
	return Options{Cache: cache, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func dataset(t *testing.T, rows string) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "data"), 0o755), os.WriteFile(filepath.Join(dir, "data", "test.jsonl"), []byte(rows), 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestHuggingFace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, rows, script, says string
		formats                  int
		equal                    bool
	}{
		{"equal", "{}\n", `echo '{"client":"c","rows":1,"formats":[{"format":"parquet","rows":1,"difference":""}]}'`, "", 1, true},
		{"different", "{}\n", `echo '{"rows":1,"formats":[{"format":"parquet","difference":""},{"format":"jsonl","difference":"row 1"}]}'`, "", 2, false},
		{"all_formats_where_none_is_named", "{}\n", `[ "$3 $6 $7" = "test parquet jsonl" ] && echo '{"rows":1,"formats":[{}]}'`, "", 1, true},
		{"offline", "{}\n", `[ "$HF_HUB_OFFLINE$HF_DATASETS_OFFLINE" = 11 ] && [ -d "$HF_HOME" ] && echo '{"formats":[{}]}'`, "", 1, true},
		{"no_rows", "", `exit 1`, "", 0, true},
		{"client_fails", "{}\n", `echo "ImportError: no pyarrow" >&2; exit 1`, "no pyarrow", 0, true},
		{"no_answer", "{}\n", `echo hello`, `reading the client's answer "hello`, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := HuggingFace(t.Context(), dataset(t, tt.rows), "test", nil, fake(t, tt.script))
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil || len(r.Formats) != tt.formats || r.Equal() != tt.equal {
				t.Errorf("%+v, equal %v, %v", r, r.Equal(), err)
			}
		})
	}
}

// A client that cannot be had is told apart from a dataset that does not open, and
// is tried again the next time.
func TestNoClient(t *testing.T) {
	dir, cache := dataset(t, "{}\n"), t.TempDir()
	said := 0
	o := Options{Cache: cache, Say: func(string, ...any) { said++ }}
	for range 2 {
		t.Setenv("PATH", t.TempDir())
		if _, err := HuggingFace(t.Context(), dir, "test", nil, o); !errors.Is(err, ErrNoClient) {
			t.Fatalf("%v", err)
		}
	}
	if said != 2 {
		t.Errorf("said %d times", said)
	}
}

// A machine without uv makes the client's environment with the one that it is given.
func TestBroughtUV(t *testing.T) {
	dir := t.TempDir()
	said, uv := filepath.Join(dir, "said"), filepath.Join(dir, "brought")
	script := "#!/bin/sh\necho \"$1\" >>" + said + "\n[ $1 = venv ]\n"
	if err := os.WriteFile(uv, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "empty"))
	o := Options{Cache: dir, UV: func(context.Context) (string, error) { return uv, nil }}
	if _, err := clients()[HuggingFaceName].get(t.Context(), o); !errors.Is(err, ErrNoClient) {
		t.Fatalf("%v", err)
	}
	if got, err := os.ReadFile(said); err != nil || string(got) != "venv\npip\n" {
		t.Errorf("it ran %q: %v", got, err)
	}
}
