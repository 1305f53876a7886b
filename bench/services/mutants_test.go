package main

import (
	"strings"
	"testing"
)

const handlers = `from flask import jsonify, abort


class Books:
    def one(self, number):
        book = find(number)
        if book is None:
            abort(404)
        return jsonify({"id": book.id, "title": book.title}), 201

    def all(self):
        return jsonify(find_all().order_by(Book.id.desc()).limit(20))


def other():
    return 1
`

// TestMutants: each kind of mutant changes one place of the one handler, and leaves the rest.
func TestMutants(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"constant_answer": "        return {}\n        book = find(number)", "wrong_status": "}), 202", "dropped_field": `{"title": book.title}`,
		"missing_check": "if False:\n            abort", "other_order": "id.asc()", "off_by_one": "limit(21)",
	}
	for _, k := range kinds {
		found := false
		for _, name := range []string{"Books.one", "Books.all"} {
			from, to, ok := body("books.py", handlers, name)
			if !ok {
				t.Fatalf("%s is not found", name)
			}
			for _, c := range k.find("python", handlers[from:to]) {
				found = found || strings.Contains(c.text, want[k.name])
				if strings.Contains(c.text, "def ") {
					t.Errorf("%s reaches another function: %s", k.name, c.text)
				}
			}
		}
		if !found {
			t.Errorf("%s: no mutant with %q", k.name, want[k.name])
		}
	}
	if got := check("go", "\tif err != nil {\n\t\ta.logger.Error().Err(err).Msg(\"\")\n\t\treturn\n\t}\n\tif bad {\n\t\te.BadRequest(w)\n\t\treturn\n\t}\n"); len(got) != 1 || got[0].what != "never if bad" {
		t.Errorf("checks of a request: %v", got)
	}
	for body, want := range map[string]string{
		"\n\tc.JSON(http.StatusOK, x)\n": "\nc.JSON(200, map[string]any{})\nreturn\n\tc.JSON(http.StatusOK, x)\n",
		"\n\tx := 1\n\treturn func(w http.ResponseWriter, r *http.Request) {\n\t\trender.JSON(w, 200, x)\n\t}\n": "\n\tx := 1\n\treturn func(w http.ResponseWriter, r *http.Request) {\nw.Write([]byte(`{}`))\nreturn\n\t\trender.JSON(w, 200, x)\n\t}\n",
	} {
		if got := constant("go", body); len(got) != 1 || got[0].text != want {
			t.Errorf("a constant answer: %q, want %q", got, want)
		}
	}
	const source = "package a\n\nfunc (s *shelf) get(w http.ResponseWriter, r *http.Request) {\n\tif !ok {\n\t\thttp.Error(w, \"\", 404)\n\t\treturn\n\t}\n\tanswer(w, http.StatusOK, b)\n}\n\nfunc other() {}\n"
	from, to, ok := body("main.go", source, "shelf.get")
	if !ok || strings.Contains(source[from:to], "other") || len(check("go", source[from:to])) != 1 {
		t.Errorf("%t, %q", ok, source[from:to])
	}
}
