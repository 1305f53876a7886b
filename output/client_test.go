package output

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/verify"
)

// opened loads a dataset with the real library.
func opened(t *testing.T, dir string) verify.Result {
	t.Helper()
	return seen(t, func(o verify.Options) (verify.Result, error) {
		return verify.HuggingFace(context.Background(), dir, DefaultSplit, nil, o)
	})
}

func seen(t *testing.T, open func(verify.Options) (verify.Result, error)) verify.Result {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("NO CACHE FOLDER, so no client: %v", err)
	}
	r, err := open(verify.Options{Cache: filepath.Join(cache, "benchmint"), Env: os.Environ(), Say: t.Logf})
	if errors.Is(err, verify.ErrNoClient) {
		t.Skipf("DATASETS IS NOT HERE, the dataset was opened with no real client (.ci/setup test gets it): %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The dataset opens from its folder with datasets.load_dataset, as Parquet and as
// JSONL, and all rows are equal to those of the JSONL and so to each other.
func TestDatasetsLoads(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	// One date as a tag, in every row: what a reader of JSON would take for a time.
	for i := range in.tasks {
		in.tasks[i].Version = "2024-01-01"
	}
	in.tasks[1].Statement.Hints = "" // and one empty text
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	// Strays beside the data, which a loader that guesses would take.
	for name, text := range map[string]string{"notes.jsonl": `{"a":1}` + "\n", "train.csv": "a,b\n1,2\n", "data/other.jsonl": `{"b":[1]}` + "\n", "more/test.json": `{"c":{}}`, "zz.parquet": "no parquet"} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	r := opened(t, dir)
	t.Logf("%s: %d rows", r.Client, r.Rows)
	if r.Rows != 2 || len(r.Formats) != 2 || !r.Equal() {
		t.Fatalf("%+v", r)
	}
	for _, f := range r.Formats {
		if f.Rows != 2 {
			t.Errorf("%s: %d rows", f.Format, f.Rows)
		}
		for _, name := range features {
			if f.Columns[name] != "string" {
				t.Errorf("%s: %s is %q", f.Format, name, f.Columns[name])
			}
		}
	}
}

// The client's cache gives a folder its own rows, and not those of a folder of the same name or of an earlier dataset
// at the same path.
func TestDatasetsCache(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	home := filepath.Join(top, "home")
	load := func(dir, hints string) string {
		in := input(t)
		in.tasks[1].Statement.Hints = hints
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(dir, in.of()); err != nil {
			t.Fatal(err)
		}
		opened(t, dir)
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		clients, err := filepath.Glob(filepath.Join(cache, "benchmint", "clients", "datasets-*", "bin", "python"))
		if err != nil || len(clients) == 0 {
			t.Fatalf("no Python of the client: %v", err)
		}
		cmd := exec.CommandContext(t.Context(), clients[0], "-c", "import sys, datasets; print(datasets.load_dataset(sys.argv[1], split='test')['hints_text'][1])", dir)
		cmd.Env = append(cmd.Environ(), "HF_HOME="+home, "HF_HUB_OFFLINE=1", "PYTHONPATH=")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	for _, tt := range [][2]string{{"a", "First."}, {"a", "Second."}, {"b", "Third."}} {
		if got := load(filepath.Join(top, tt[0], "out"), tt[1]); got != tt[1] {
			t.Errorf("%s/out holds %q; the client gives %q", tt[0], tt[1], got)
		}
	}
}

// The client sees a difference between the two files.
func TestDatasetsSeesADifference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says string
		do         func(t *testing.T, dir string)
	}{
		{"row_changed", "hints_text is 'Ask <address>.'", func(t *testing.T, dir string) {
			editRow(t, dir, func(r *Row) { r.HintsText = "Ask." })
		}},
		{"row_gone", "2 rows, the JSONL has 1", func(t *testing.T, dir string) {
			edit(t, dir, "data/test.jsonl", false, func(s string) string { return s[:strings.Index(s, "\n")+1] })
		}},
		{"parquet_broken", "Parquet", func(t *testing.T, dir string) {
			edit(t, dir, "data/test.parquet", false, func(s string) string { return s[:len(s)/2] })
		}},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		if _, err := Write(dir, input(t).of()); err != nil {
			t.Fatal(err)
		}
		tt.do(t, dir)
		if r := opened(t, dir); r.Equal() || !strings.Contains(r.Formats[0].Difference, tt.says) {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}

// The client opens each configuration of a release with the rows that belong to it.
func TestDatasetsConfigurations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, from, to, format, says string }{
		{name: "whole"},
		{"a_row_too_many", "data/feature/test.parquet", "data/w2026_01/test.parquet", "w2026_01", "2 rows, the JSONL has 1"},
		{"another_row", "data/w2026_01/test.parquet", "data/w2025_06/test.parquet", "w2025_06", "instance_id is"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		if _, err := Write(dir, input(t).of()); err != nil {
			t.Fatal(err)
		}
		released(t, dir)
		d, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if tt.from != "" {
			moved(t, dir, tt.from, tt.to)
		}
		r := seen(t, func(o verify.Options) (verify.Result, error) {
			return verify.Configurations(t.Context(), dir, DefaultSplit, d.ConfigRows(DefaultSplit), o)
		})
		var says string
		for _, f := range r.Formats {
			if f.Format == tt.format {
				says = f.Difference
			}
		}
		if len(r.Formats) != 5 || r.Equal() != (tt.says == "") || !strings.Contains(says, tt.says) {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}

// What the client does to times is why created_at has milliseconds.
func TestDatasetsRewritesTimesWithoutAFraction(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	in.tasks = in.tasks[:1]
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	editRow(t, dir, func(r *Row) { r.CreatedAt = strings.Replace(r.CreatedAt, ".000Z", "Z", 1) })
	r := opened(t, dir)
	if d := r.Formats[1].Difference; !strings.Contains(d, "created_at is datetime") {
		t.Errorf("a time without a fraction comes back as %q: the rule of created_at may be outdated", d)
	}
}

// An empty dataset has nothing to open; it is no fault.
func TestDatasetsOfNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	in.tasks = nil
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	if r := opened(t, dir); len(r.Formats) != 0 || !r.Equal() {
		t.Errorf("%+v", r)
	}
}
