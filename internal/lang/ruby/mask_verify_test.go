package ruby

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/verify"
)

func TestChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said string
		want verify.Fault
	}{
		{"./a.rb:2: syntax error, unexpected end-of-input\n", verify.Fault{Line: 2, Message: "syntax error, unexpected end-of-input"}},
		{"./a.rb: ./a.rb:2: syntax error found (SyntaxError)\n    1 | def f\n", verify.Fault{Line: 2, Message: "syntax error found (SyntaxError)"}},
		{"ruby: No such file or directory -- ./a.rb (LoadError)\n", verify.Fault{Message: "ruby: No such file or directory -- ./a.rb (LoadError)"}},
	} {
		if got := checked("", c.said); got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.said, got, c.want)
		}
	}
}
