package java

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
)

func TestSoften(t *testing.T) {
	t.Parallel()
	for path, is := range map[string]bool{"pom.xml": true, "core/pom.xml": true, "core/a-pom.xml": false, "pom.xml/A.java": false} {
		if got := (Masker{}).IsSetting(path); got != is {
			t.Errorf("%s: a setting: %t", path, got)
		}
	}
	const before = "<a><failOnWarning>true</failOnWarning>\n<failOnWarning> true\n</failOnWarning><failOnWarning>false</failOnWarning><failOnWarnings>true</failOnWarnings>" +
		"<compilerArgs><arg>-Xlint:all</arg><arg>-Werror</arg></compilerArgs><compilerArgument> -Werror </compilerArgument><flag>-Werror</flag></a>"
	const after = "<a><failOnWarning>false</failOnWarning>\n<failOnWarning> false\n</failOnWarning><failOnWarning>false</failOnWarning><failOnWarnings>true</failOnWarnings>" +
		"<compilerArgs><arg>-Xlint:all</arg><arg>-nowarn</arg></compilerArgs><compilerArgument> -nowarn </compilerArgument><flag>-Werror</flag></a>"
	got, err := mask.Apply([]byte(before), Masker{}.Soften("pom.xml", []byte(before)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, string(got)); diff != "" {
		t.Error(diff)
	}
}
