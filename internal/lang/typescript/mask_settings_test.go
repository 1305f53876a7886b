package typescript

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask"
)

func TestSoften(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"both":         {`{"noUnusedLocals": true, "noUnusedParameters":true}`, `{"noUnusedLocals": false, "noUnusedParameters":false}`},
		"imports":      {`{"importsNotUsedAsValues": "error"}`, `{"importsNotUsedAsValues": "preserve"}`},
		"off_already":  {`{"noUnusedLocals": false, "importsNotUsedAsValues": "remove"}`, `{"noUnusedLocals": false, "importsNotUsedAsValues": "remove"}`},
		"a_comment":    {"{// \"noUnusedLocals\": true\n}", "{// \"noUnusedLocals\": true\n}"},
		"with_a_mark":  {"\ufeff{\"noUnusedLocals\": true}", "\ufeff{\"noUnusedLocals\": false}"},
		"no_value":     {`{"noUnusedLocals": "error", "importsNotUsedAsValues": true}`, `{"noUnusedLocals": "error", "importsNotUsedAsValues": true}`},
		"of_a_package": {`{"extends": "@o/c", "include": ["a"], "compilerOptions": {"strict": true}}`, `{"extends": "@o/c", "include": ["a"], "compilerOptions": {"noUnusedLocals": false, "noUnusedParameters": false, "strict": true}}`},
		"of_two":       {"\ufeff{\"extends\": [\"./a\", \"c\"], // so\n\"compilerOptions\": { },}", "\ufeff{\"extends\": [\"./a\", \"c\"], // so\n\"compilerOptions\": {\"noUnusedLocals\": false, \"noUnusedParameters\": false },}"},
		"no_options":   {`{"extends": "c"}`, `{"compilerOptions": {"noUnusedLocals": false, "noUnusedParameters": false}, "extends": "c"}`},
		"one_of_them":  {`{"compilerOptions": {"noUnusedLocals": true}, "extends": "c"}`, `{"compilerOptions": {"noUnusedParameters": false, "noUnusedLocals": false}, "extends": "c"}`},
		"both_of_them": {`{"compilerOptions": {"noUnusedLocals": false, "noUnusedParameters": false}, "extends": "c"}`, `{"compilerOptions": {"noUnusedLocals": false, "noUnusedParameters": false}, "extends": "c"}`},
		"of_the_tree":  {`{"extends": ["./a", "../b", "/c"], "compilerOptions": {}}`, `{"extends": ["./a", "../b", "/c"], "compilerOptions": {}}`},
		"null_options": {`{"extends": "c", "compilerOptions": null}`, `{"extends": "c", "compilerOptions": null}`},
		"broken":       {`{"extends": "c", "compilerOptions": {`, `{"extends": "c", "compilerOptions": {`},
		"others":       {`{"noImplicitAny": true}`, `{"noImplicitAny": true}`},
	} {
		got, err := mask.Apply([]byte(c.source), Masker{}.Soften("tsconfig.json", []byte(c.source)))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, c.want)
		}
	}
	for path, is := range map[string]bool{"tsconfig.json": true, "a/tsconfig.base.json": true, "package.json": false, "tsconfig.ts": false} {
		if got := (Masker{}).IsSetting(path); got != is {
			t.Errorf("%s: %v, want %v", path, got, is)
		}
	}
}
