package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

func TestReadReviews(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	read := func(texts ...string) (map[string][]schemas.PeerReview, error) {
		var files []string
		for i, text := range texts {
			files = append(files, filepath.Join(dir, string(rune('a'+i))+".csv"))
			if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return ReadReviews(files)
	}
	const head = "instance_id,verdict,code,who,date,note\n"
	got, err := read(head+"a__b-1,accept,,Ben,2026-01-02,\na__b-2,refuse,leak,Ben,2026-01-02,\"says, \"\"how\"\"\nin full\"\n", "\xef\xbb\xbfwho,date,note,code,verdict,instance_id\r\nAna,2026-01-03,,unfair,refuse,a__b-1\r\n")
	want := map[string][]schemas.PeerReview{
		"a__b-1": {{Verdict: "refuse", Code: "unfair", Who: "Ana", Date: "2026-01-03"}, {Verdict: "accept", Who: "Ben", Date: "2026-01-02"}},
		"a__b-2": {{Verdict: "refuse", Code: "leak", Who: "Ben", Date: "2026-01-02", Note: "says, \"how\"\nin full"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "a.csv:1: is empty; the first line is instance_id,"},
		{"column", "instance_id,verdict,codes,who,date,note\n", `a.csv:1: unknown column "codes"; did you mean code?`},
		{"no_column", "instance_id,verdict,code,who,date\n", `a.csv:1: column "note" is missing`},
		{"column_twice", "instance_id,verdict,code,who,date,note,who\n", `column "who" stands here twice`},
		{"fields", head + "a__b-1,accept\n", "a.csv:2: 2 fields; the first line has 6"},
		{"quote", head + "a__b-1,\"accept\n", "a.csv:2: not CSV: "},
		{"id", head + "widget,accept,,Ana,2026-01-02,\n", `a.csv:2: instance_id: "widget" is not an instance ID`},
		{"verdict", head + "\na__b-1,acept,,Ana,2026-01-02,\n", `a.csv:3: verdict: "acept" is not one of accept, refuse; did you mean accept?`},
		{"code", head + "a__b-1,refuse,unclaer,Ana,2026-01-02,\n", `code: "unclaer" is not one of trivial, unrealistic, unfair, leak, unclear; did you mean unclear?`},
		{"no_code", head + "a__b-1,refuse,,Ana,2026-01-02,\n", `code: "" is not one of`},
		{"code_of_accept", head + "a__b-1,accept,leak,Ana,2026-01-02,\n", `code: "leak" goes with refuse`},
		{"nobody", head + "a__b-1,accept,,,2026-01-02,\n", "who: is empty"},
		{"address", head + "a__b-1,accept,,ana@example.org,2026-01-02,\n", "without an address"},
		{"date", head + "a__b-1,accept,,Ana,2.1.2026,\n", `date: "2.1.2026" is not a date (YYYY-MM-DD)`},
		{"twice", head + "a__b-1,accept,,Ana,2026-01-02,\na__b-1,accept,,Ana,2026-01-02,\n", "a.csv:3: Ana reviews a__b-1 in "},
	} {
		if _, err := read(tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}
