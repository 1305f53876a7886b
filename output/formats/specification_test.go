package formats

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// TestSpecificationArrives: by each format a solver gets the very bytes of the specification. Commit0 has them in
// its tree; Harbor and SWE-bench name the image that has them, and their statements the path in it.
func TestSpecificationArrives(t *testing.T) {
	t.Parallel()
	const text = "# lathe\r\n\n\tnot ASCII: ü, and no line feed at the end"
	at := schemas.SpecificationPath + "/" + schemas.SpecificationText
	x := starter(t, func(x *Task) {
		x.ProblemStatement = "Write the missing bodies.\n\nSpecification: " + at + " (9 words)."
		x.Script = []byte("echo 'report: '/tmp/report.xml\n")
		x.Benchmint.ImageKey = schemas.DigestBytes([]byte("image"))
		x.Specification = map[string][]byte{schemas.SpecificationText: []byte(text), "pictures/p.svg": []byte("<svg/>")}
	})
	d := &output.Dataset{Manifest: output.Manifest{Name: "d", Splits: []output.Split{{Name: "test", Tasks: 1}}}, Rows: []output.Located{{Row: x.Row, File: "data/test.jsonl"}}}
	written := func(f Format) func(name string) string {
		dir := t.TempDir()
		sink, err := f.Open(dir, d)
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Add(x); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		return func(name string) string {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
	}

	image := Image(x.Row)
	if got := ImageFiles(x.Specification); string(got[at]) != text || string(got[schemas.SpecificationPath+"/pictures/p.svg"]) != "<svg/>" || len(got) != 2 {
		t.Errorf("image: %q", got)
	}
	harbor := written(Harbor{})
	if from := harbor(x.InstanceID + "/environment/Dockerfile"); from != "FROM "+image+"\n" {
		t.Errorf("Harbor: %q, want %s", from, image)
	}
	if says := harbor(x.InstanceID + "/instruction.md"); !strings.Contains(says, at) {
		t.Errorf("Harbor: %q", says)
	}
	var row struct {
		Image            string `json:"image_name"`
		Docker           string `json:"docker_image"`
		ProblemStatement string `json:"problem_statement"`
	}
	if err := json.Unmarshal([]byte(written(SWEBench{})("test.jsonl")), &row); err != nil {
		t.Fatal(err)
	}
	if row.Image != image || row.Docker != image || !strings.Contains(row.ProblemStatement, at) {
		t.Errorf("SWE-bench: %+v, want %s", row, image)
	}
	dir := t.TempDir()
	sink, err := Commit0{}.Open(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Add(x); err != nil {
		t.Fatal(err)
	}
	for repo, branch := range map[string]string{"repos": "commit0_strict", "reference": referenceLine} {
		cmd := exec.Command("git", "--git-dir", filepath.Join(dir, repo, "commit-0", "lathe.py.git"), "show", branch+":"+schemas.SpecificationText)
		if got, err := cmd.Output(); err != nil || string(got) != text {
			t.Errorf("commit0, %s: %q, %v", repo, got, err)
		}
	}
}
