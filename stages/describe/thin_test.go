package describe

import "testing"

// TestThin: a name that the tests assert is something to work on; a page that the text points
// to is not.
func TestThin(t *testing.T) {
	t.Parallel()
	asserting := &task{code: &solution{tests: uses{asked: map[string]bool{"intcomma": true}}, declared: map[string][]declaration{"intcomma": {{}}}, asserting: &assertions{
		text:  `h.Get("Access-Control-Request-Private-Network") "Origin, X-Wide" "maxAge" "vary" pickle.dumps`,
		words: map[string]bool{"vary": true, "pickle": true, "yaml": true, "pars": true, "comma": true, "list": true},
	}}}
	for text, want := range map[string]bool{
		"I want to add Access-Control-Request-Private-Network to Vary.":                                false,
		"I want to set maxAge of answers.":                                                             false,
		"I want to add Retry-After to Vary.":                                                           true, // which no test asserts
		"I want to add vary.":                                                                          true, // no name by its form
		"I want to have pickleable exceptions.":                                                        true, // two words, and no name
		"I want to add an ndigits option to intcomma.":                                                 false,
		"I want to have other exceptions.":                                                             true,
		"I want to escape quotation marks in names of yaml fields.":                                    false,
		"I want to escape quotation marks in names of sheets.":                                         true, // none of it is asserted
		"I want to escape quotation marks in `names` of sheets.":                                       false,
		"I want to improve check for type list and improve error msg.":                                 true,
		"I want to update it.":                                                                         true,
		"I want to use it. Based on this blog post and the related draft report of the working group.": true,
		"I want to read files. See also the discussion of parsers in that long thread.":                true,
		"I want to refuse unknown keys in yaml files. See the discussion in the issue.":                false,
	} {
		if got := asserting.thin(text, 0); got != want {
			t.Errorf("%q: thin is %t, want %t", text, got, want)
		}
	}
}

// TestAsserts: what the tests assert are the lines that they gained, and the names of those that fail.
func TestAsserts(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/gained_attribute.txtar")
	w.proof.Tests[0].ID = "tests/test_kit.py::test_sorted_services"
	s := newTask(facts{change: w.change, start: w.start, proof: w.proof, base: w.base, solution: w.solution}).code
	for text, want := range map[string]int{
		"I want to keep literals.": 1, "I want to have it sort services.": 2, "I want to have kits imported.": 0,
		"I want to have MasterPackage sorted.": 1, "I want to have OtherPackage sorted.": 0,
	} {
		if names, words := s.asserted(text); max(names, words) != want {
			t.Errorf("%q: %d and %d, want %d of %v", text, names, words, want, s.asserts())
		}
	}
}
