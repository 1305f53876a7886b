package describe

import "testing"

// TestThin: a name that the tests assert is something to work on; a page that the text points
// to is not.
func TestThin(t *testing.T) {
	t.Parallel()
	asserting := &task{code: &solution{tests: uses{literals: []string{"Access-Control-Request-Private-Network", "Origin, X-Wide", "maxAge", "vary"}}}}
	for text, want := range map[string]bool{
		"I want to add Access-Control-Request-Private-Network to Vary.": false,
		"I want to set maxAge of answers.":                              false,
		"I want to add Retry-After to Vary.":                            true, // which no test asserts
		"I want to add vary.":                                           true, // no name by its form
		"I want to update it.":                                          true,
		"I want to use it. Based on this blog post and the related draft report of the working group.": true,
		"I want to read files. See also the discussion of parsers in that long thread.":                true,
		"I want to refuse unknown keys in configuration files. See the discussion in the issue.":       false,
	} {
		if got := thin(text, asserting.asserted(text)); got != want {
			t.Errorf("%q: thin is %t, want %t", text, got, want)
		}
	}
}
