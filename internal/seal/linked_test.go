package seal

import "testing"

// TestLinked: an installation that stands for the tree says so in its own keys.
func TestLinked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"dir_info": {"editable": true}, "url": "file:///testbed"}`:                      true,
		`{"url":"file:///testbed/sub","dir_info":{"editable":true}}`:                      true,
		`{"dir_info": {"editable": true}, "url": "file:///testbed-old"}`:                  false,
		`{"dir_info": {"editable": false}, "url": "file:///testbed"}`:                     false,
		`{"dir_info": {}, "url": "file:///testbed", "subdirectory": "\"editable\":true"}`: false,
		`{"archive_info": {"editable": true}, "url": "file:///testbed"}`:                  false,
		`no JSON, "editable":true, "file:///testbed`:                                      false,
	} {
		c := &copies{inPlace: map[string]bool{}}
		c.linked("/site/x.dist-info/direct_url.json", []byte(text))
		if got := c.inPlace["/site/x.dist-info"]; got != want {
			t.Errorf("%s: in place is %t, want %t", text, got, want)
		}
	}
}
