package golang

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestApplySQL: what reaches the database's client of a file is the way up, without the file's own database and roles.
func TestApplySQL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"goose":        {"-- +goose Up\nCREATE TABLE a (n int);\n-- +goose Down\nDROP TABLE a;\n", "-- +goose Up\nCREATE TABLE a (n int);"},
		"a_dump":       {"DROP DATABASE shop;\nCREATE DATABASE shop WITH\n  ENCODING = 'UTF8';\n\\connect shop\nCREATE TABLE a (n int);\nALTER TABLE public.a OWNER TO boss;\nREVOKE ALL ON SCHEMA public FROM boss;\n", "CREATE TABLE a (n int);"},
		"mysql":        {"create database if not exists shop;\nUSE shop;\ncreate table a (n int);\n", "create table a (n int);"},
		"not_of_these": {"INSERT INTO a VALUES ('\nuse it\n');\nALTER TABLE a ADD COLUMN owner text;\n", "INSERT INTO a VALUES ('\nuse it\n');\nALTER TABLE a ADD COLUMN owner text;"},
	} {
		file, out := filepath.Join(t.TempDir(), "1.sql"), filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-c", fmt.Sprintf(applySQL, "cat >'"+out+"'; true"), "sql", file) //nolint:gosec // the script under test
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, said)
		}
		data, err := os.ReadFile(out)
		if got := strings.TrimSuffix(string(data), "\n\n;\n"); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}
