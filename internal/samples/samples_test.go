package samples

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/schemas"
	"github.com/google/go-cmp/cmp"
)

const dir = "../../testdata/samples"

// Every sample builds, and each change that its expectation speaks of is there.
func TestSamples(t *testing.T) {
	t.Parallel()
	all, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			repo := filepath.Join(t.TempDir(), "repo")
			if err := s.Build(repo); err != nil {
				t.Fatal(err)
			}
			marks := gitrepotest.Git(t, repo, "log", "--format=%s") + "\n" + gitrepotest.Git(t, repo, "for-each-ref", "--format=%(refname)")
			for _, c := range s.Changes {
				id := s.ID(c)
				key := id[strings.LastIndex(id, "-")+1:]
				if !strings.Contains(marks, "#"+key) && !strings.Contains(marks, "refs/pull/"+key+"/head") {
					t.Errorf("no commit of the history is change %s", key)
				}
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const commit = "\n-- commit: A (#1) --\n-- a.txt --\nx\n"
	s, err := parse("x", []byte(`-- expect.json --
{"repository": "a/b", "language": "go", "sets": {"k": ["p::K{08..10}"]}, "changes": [
 {"number": 1, "shows": "", "end": "done", "fail_to_pass": {"p::F": "fails"}, "pass_to_pass": ["q", "@k"]}]}`+commit))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"p::K08", "p::K09", "p::K10", "q"}
	if diff := cmp.Diff(want, s.Changes[0].PassToPass); diff != "" {
		t.Errorf("pass_to_pass (-want +got):\n%s", diff)
	}
	if got := s.ID(s.Changes[0]); got != "a__b-1" {
		t.Errorf("ID %s", got)
	}
	for name, change := range map[string]string{
		"unknown_reason":  `{"number": 1, "end": "link/whatever"}`,
		"row_without_f2p": `{"number": 1, "end": "done"}`,
		"unknown_key":     `{"number": 1, "end": "link/no_code", "colour": 1}`,
		"unknown_set":     `{"number": 1, "end": "done", "fail_to_pass": {"a": "new"}, "pass_to_pass": ["@x"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `-- expect.json --` + "\n" + `{"repository": "a/b", "language": "go", "changes": [` + change + `]}` + commit
			if _, err := parse("x", []byte(text)); err == nil {
				t.Error("want an error")
			}
		})
	}
}

func TestListsOf(t *testing.T) {
	t.Parallel()
	got := ListsOf([]schemas.TestVerdict{
		{ID: "c", Class: schemas.P2P}, {ID: "a", Class: schemas.P2P}, {ID: "f", Class: schemas.F2P, Cause: schemas.CauseNew},
		{ID: "p", Class: schemas.Parent}, {ID: "q", Class: schemas.Quarantined}, {ID: "v", Class: schemas.Vanished},
		{ID: "s", Class: schemas.SkipToPass}, {ID: "u", Class: schemas.UnstableID}, {ID: "d", Class: schemas.TimeBound},
	})
	want := Lists{
		FailToPass: map[string]schemas.Cause{"f": schemas.CauseNew}, PassToPass: []string{"a", "c"}, SkipToPass: []string{"s"},
		Quarantined: []string{"q"}, Vanished: []string{"v"}, UnstableID: []string{"u"}, Clock: []string{"d"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
}
