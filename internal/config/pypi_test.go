package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadProjects(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		most       int
		want       []string
		fault      string
	}{
		{"one_a_line", "# the first ones\nrequests\n\nclick  # of pallets\n", 0, []string{"requests", "click"}, ""},
		{"rows_by_downloads", `{"last_update": "2026-01-01", "rows": [{"download_count": 5, "project": "six"}, {"download_count": 70, "project": "boto3"}, {"download_count": 9, "project": "attrs"}]}`, 2, []string{"boto3", "attrs"}, ""},
		{"list_of_rows", `[{"project": "six", "download_count": 5}]`, 0, []string{"six"}, ""},
		{"list_of_names", `["six", "zope.interface"]`, 0, []string{"six", "zope.interface"}, ""},
		{"csv", "\"download_count\",\"project\"\r\n5,six\r\n1571238571,boto3\r\n", 1, []string{"boto3"}, ""},
		{"csv_without_counts", "project\nsix\nattrs\n", 0, []string{"six", "attrs"}, ""},
		{"fewer_than_most", "six\n", 9, []string{"six"}, ""},
		{"a_requirement", "six\nattrs>=22\n", 0, nil, `list:2: "attrs>=22" is not a name of a project`},
		{"a_row_without_a_name", `{"rows": [{"project": "six"}, {"name": "attrs"}]}`, 0, nil, `list: row 2: "" is not a name of a project`},
		{"cut_json", `{"rows": [{"project": "six"}, {"pro`, 0, nil, "unexpected end of JSON input"},
		{"cut_csv", "project,download_count\nsix,5\n\"att", 0, nil, `extraneous or missing " in quoted-field`},
		{"csv_of_words", "project,download_count\nsix,many\n", 0, nil, `line 2: "many" is not a number of downloads`},
		{"json_of_something_else", `{"packages": ["six"]}`, 0, nil, "names no project"},
		{"empty", "# nothing\n", 0, nil, "names no project"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadProjects(Projects{File: file}, tc.most)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if tc.fault == "" && err != nil || tc.fault != "" && (err == nil || !strings.Contains(err.Error(), tc.fault)) {
				t.Errorf("%v; want %q", err, tc.fault)
			}
		})
	}
	if got, err := ReadProjects(Projects{Names: []string{"b", "a"}}, 1); err != nil || !cmp.Equal(got, []string{"b"}) {
		t.Errorf("%v, %v", got, err)
	}
}
