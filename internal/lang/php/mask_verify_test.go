package php

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/verify"
)

func TestLinted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said string
		want verify.Fault
	}{
		{"\nParse error: syntax error, unexpected token \";\" in ./a b.php on line 3\n\nErrors parsing ./a b.php\n", verify.Fault{Line: 3, Message: `Parse error: syntax error, unexpected token ";"`}},
		{"PHP Fatal error:  Cannot redeclare f() (previously declared in ./a.php:1) in ./a.php on line 12\n", verify.Fault{Line: 12, Message: "Fatal error:  Cannot redeclare f() (previously declared in ./a.php:1)"}},
		{"Could not open input file: ./a.php\n", verify.Fault{Message: "Could not open input file: ./a.php"}},
	} {
		if got := linted("", c.said); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}
