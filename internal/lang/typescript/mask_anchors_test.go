package typescript

import (
	"path"
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// What a file runs when it is loaded is found where settings say that its imports lie.
func TestMaskAnchors(t *testing.T) {
	t.Parallel()
	const made = "export function make() { return 1; }\nexport function other() { return 2; }\n"
	app := func(from string) string {
		return "-- app/main.ts --\nimport { make } from '" + from + "';\nexport const x = make();\n"
	}
	appOf := func(dir, manifest string) string {
		return "-- own/package.json --\n{\"name\": \"own\", \"main\": \"a.js\"}\n-- " + path.Join(dir, "package.json") + " --\n" + manifest + "\n-- " + path.Join(dir, "main.ts") + " --\nimport { make } from 'own';\nexport const x = make();\n"
	}
	config := func(s string) string { return "-- tsconfig.json --\n" + s + "\n" }
	at := func(file string) string { return "-- " + file + " --\n" + made }
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
		"none":                       {app("@/a") + at("src/a.ts"), ""},
		"a_star":                     {app("@/a") + at("src/a.ts") + config(`{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}`), "make"},
		"as_compiled":                {app("@/a.js") + at("src/a.ts") + config(`{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}`), "make"},
		"comments_and_commas":        {app("@/a") + at("src/a.ts") + config("{\n// paths\n\"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\",],}, /* so */},\n}"), "make"},
		"with_a_mark":                {app("@/a") + at("src/a.ts") + config("\ufeff"+`{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}`), "make"},
		"the_second":                 {app("@/a") + at("lib/a.ts") + config(`{"compilerOptions": {"paths": {"@/*": ["./src/*", "./lib/*"]}}}`), "make"},
		"no_slash":                   {app("~a") + at("src/a.ts") + config(`{"compilerOptions": {"paths": {"~*": ["./src/*"]}}}`), "make"},
		"whole":                      {app("made") + at("src/a.ts") + config(`{"compilerOptions": {"paths": {"made": ["src/a.ts"]}}}`), "make"},
		"not_whole":                  {app("made/a") + at("src/a.ts") + config(`{"compilerOptions": {"paths": {"made": ["src"]}}}`), ""},
		"the_longer":                 {app("@/x/a") + at("right/a.ts") + at("src/x/a.ts") + config(`{"compilerOptions": {"paths": {"@/*": ["src/*"], "@/x/*": ["right/*"]}}}`), "make"},
		"a_star_within":              {app("@s/one") + at("packages/one/src/index.ts") + config(`{"compilerOptions": {"paths": {"@s/*": ["packages/*/src"]}}}`), "make"},
		"base":                       {app("a") + at("src/a.ts") + config(`{"compilerOptions": {"baseUrl": "./src"}}`), "make"},
		"from_the_base":              {app("@/a") + at("src/x/a.ts") + config(`{"compilerOptions": {"baseUrl": "src", "paths": {"@/*": ["x/*"]}}}`), "make"},
		"no_code_of_its_name":        {app("a.merge") + at("src/a.ts") + config(`{"compilerOptions": {"baseUrl": "./src"}}`), ""},
		"elsewhere":                  {app("@/a") + at("src/a.ts") + "-- web/tsconfig.json --\n" + `{"compilerOptions": {"paths": {"@/*": ["../src/*"]}}}` + "\n", ""},
		"the_nearest":                {app("@/a") + at("right/a.ts") + config(`{"compilerOptions": {"paths": {"@/*": ["src/*"]}}}`) + at("src/a.ts") + "-- app/jsconfig.json --\n" + `{"compilerOptions": {"paths": {"@/*": ["../right/*"]}}}` + "\n", "make"},
		"extended":                   {app("@/a") + at("src/a.ts") + config(`{"extends": "./conf/base"}`) + "-- conf/base.json --\n" + `{"compilerOptions": {"paths": {"@/*": ["../src/*"]}}}` + "\n", "make"},
		"extended_package":           {app("@/a") + at("src/a.ts") + config(`{"extends": "@s/conf/base.json"}`) + "-- conf/package.json --\n{\"name\": \"@s/conf\"}\n-- conf/base.json --\n" + `{"compilerOptions": {"paths": {"@/*": ["../src/*"]}}}` + "\n", "make"},
		"extended_here":              {app("@/a") + at("app/src/a.ts") + "-- app/tsconfig.json --\n{\"extends\": \"../tsconfig.json\"}\n" + config(`{"compilerOptions": {"paths": {"@/*": ["${configDir}/src/*"]}}}`), "make"},
		"in_a_circle":                {app("@/a") + at("src/a.ts") + config(`{"extends": "./tsconfig.json", "compilerOptions": {"paths": {"@/*": ["src/*"]}}}`), "make"},
		"imports":                    {app("#in/a.js") + at("src/a.ts") + "-- package.json --\n" + `{"imports": {"#in/*": "./src/*"}}` + "\n", "make"},
		"imports_with_ending":        {app("#in/a") + at("src/a.ts") + "-- package.json --\n" + `{"imports": {"#in/*": {"node": "./src/*.js"}}}` + "\n", "make"},
		"imports_as_built":           {app("#a") + at("src/a.ts") + "-- package.json --\n" + `{"imports": {"#a": "./dist/esm/a.js"}}` + "\n", "make"},
		"imports_of_another":         {app("#a") + at("src/a.ts") + "-- src/package.json --\n" + `{"imports": {"#a": "./a.js"}}` + "\n", ""},
		"exports":                    {app("own/sub") + at("code/a.ts") + "-- package.json --\n" + `{"name": "own", "exports": {".": "./code/b.js", "./sub": ["./code/a.js"]}}` + "\n", "make"},
		"exports_alone":              {app("own") + at("code/a.ts") + "-- package.json --\n" + `{"name": "own", "exports": {"import": "./code/a.js"}}` + "\n", "make"},
		"main":                       {app("@s/own") + at("x/code/a.ts") + "-- x/package.json --\n" + `{"name": "@s/own", "main": "code/a"}` + "\n", "make"},
		"of_a_package_without_entry": {appOf("web", `{"private": true}`) + at("own/a.ts"), ""},
		"of_one_that_is_imported":    {appOf("web", `{"private": true}`) + at("own/a.ts") + "-- web/b.ts --\nimport { x } from './main';\nexport const y = x;\n", "make"},
		"of_one_with_an_entry":       {appOf("web", `{"private": true, "main": "main.js"}`) + at("own/a.ts"), "make"},
		"of_one_with_a_program":      {appOf("web", `{"private": true, "bin": {"web": "main.js"}}`) + at("own/a.ts"), "make"},
		"of_one_with_a_module":       {appOf("web", `{"private": true, "module": "main.js"}`) + at("own/a.ts"), "make"},
		"of_one_with_exports":        {appOf("web", `{"private": true, "exports": "./main.js"}`) + at("own/a.ts"), "make"},
		"of_one_with_types":          {appOf("web", `{"private": true, "types": "main.d.ts"}`) + at("own/a.ts"), "make"},
		"of_one_in_a_folder":         {appOf("web/src", `{}`) + "-- web/package.json --\n{\"private\": true}\n" + at("own/a.ts"), ""},
		"of_one_by_a_path":           {"-- web/package.json --\n{\"private\": true}\n-- web/main.ts --\nimport { make } from '../own/a';\nexport const x = make();\n" + at("own/a.ts"), "make"},
		"of_one_that_takes_itself":   {appOf("web", `{"private": true}`) + "import * as me from './main';\n" + at("own/a.ts"), ""},
		"of_one_that_another_takes":  {appOf("web", `{"private": true}`) + at("own/a.ts") + "-- web/b.ts --\nimport { other } from 'own';\nimport { x } from './main';\nexport const y = x;\n", "make"},
		"of_one_that_is_taken_too":   {appOf("web", `{"private": true}`) + "import * as me from './main';\n" + at("own/a.ts") + "-- web/b.ts --\nimport { other } from 'own';\nimport { x } from './main';\nexport const y = x;\n", "make"},
		"of_one_for_all":             {appOf("web", `{}`) + at("own/a.ts"), "make"},
		"of_the_tree":                {appOf("", `{"private": true}`) + at("own/a.ts"), "make"},
		"nothing_to_read":            {app("@/a") + at("src/a.ts") + config(`{"compilerOptions": {"paths": `), ""},
	})
}
