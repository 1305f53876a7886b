package classify_test

import "testing"

// TestReferences: a reference is no verb. What stands behind it says what the change is, and
// what says of itself that it mends stays a fix.
func TestReferences(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Fixes #12 - Allow ragged files":                                "feature",
		"Closes #3: Add a widget":                                       "feature",
		"[#12] Add a widget":                                            "feature",
		"GH-12: Support widgets":                                        "feature",
		"[GH-12] Add a widget":                                          "feature",
		"[PROJ-12] Add a widget":                                        "feature",
		"(fixes #4) Add a widget":                                       "feature",
		"fix #465: allow ragged files":                                  "feature",
		"Fixes acme#465 - Allow ragged files":                           "feature",
		"Fixes acme/widget#465 - Allow ragged files":                    "feature",
		"Fixes https://example.org/acme/widget/issues/5 - Allow ragged": "feature",
		"Fix issue #12: add widgets":                                    "feature",
		"Fix bug #12 - Add widgets":                                     "feature",
		"Fix for #12: add widgets":                                      "feature",
		"Fixes issue 12: Add widgets":                                   "feature",
		"Fix GH-12: Add widgets":                                        "feature",
		"Fix #12 and #13: Add widgets":                                  "feature",
		"Fix #12: Improve the widget":                                   "improvement",
		"Fixes #12 - Prevent crash":                                     "fix",
		"Fixes #12: Add missing check":                                  "fix",
		"Fix #12: crash when a widget is none":                          "fix",
		"Fixes acme#12: Widgets raise TypeError":                        "fix",
		"Fix https://example.org/acme/widget/issues/5: wrong rounding":  "fix",
		"Fix the widget of issue #12":                                   "fix",
		"Fix widgets (#12)":                                             "fix",
		"Fix for widgets, see #12":                                      "fix",
		"Fix UTF-8 files":                                               "fix",
		"fix: #12 add widgets":                                          "fix", // a conventional commit says so itself
	} {
		if got, evidence := labelled(titled(title)); string(got) != want {
			t.Errorf("%q: %s, want %s (%v)", title, got, want, evidence)
		}
	}
}
