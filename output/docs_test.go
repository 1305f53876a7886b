package output

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// The page of the format names every key and every file.
func TestDocsNameEverything(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../docs/dataset.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, of := range []reflect.Type{reflect.TypeFor[Row](), reflect.TypeFor[Extra](), reflect.TypeFor[Change](), reflect.TypeFor[Split](), reflect.TypeFor[Statistics](), reflect.TypeFor[Adequacy](), reflect.TypeFor[Manifest](), reflect.TypeFor[Reject]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			want = append(want, name)
		}
	}
	want = append(want, ManifestFile, ChecksumsFile, CardFile, RejectsFile, FlakesFile, TimingsFile, BlobsDir+"/", PlotsDir+"/*.svg",
		StatementFile, GoldFile, TestFile, RecipeFile, StartFile, ProofFile, AdequacyFile, DockerfileFile, RunFile)
	for _, name := range want {
		if !strings.Contains(string(b), "`"+name+"`") {
			t.Errorf("docs/dataset.md does not name `%s`", name)
		}
	}
}
