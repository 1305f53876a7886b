package wholebody

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		body io.Reader
		want string // "" is an error
	}{
		{"whole", strings.NewReader("12345"), "12345"},
		{"too_large", strings.NewReader("123456"), ""},
		{"cut", io.MultiReader(strings.NewReader("12"), iotest.ErrReader(errors.New("cut"))), ""},
	} {
		resp := &http.Response{Body: io.NopCloser(tc.body)}
		b, err := Read(resp, 5)
		if string(b) != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s: %q, %v", tc.name, b, err)
		}
		if err != nil {
			continue
		}
		if again, err := io.ReadAll(resp.Body); err != nil || string(again) != tc.want {
			t.Errorf("%s: the body holds %q, %v", tc.name, again, err)
		}
	}
}
