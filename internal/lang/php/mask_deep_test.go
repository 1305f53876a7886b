package php

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "src/a.php", map[string]string{
		"functions": "<?php " + masktest.Nested("function f() { ", "g();", " }"),
		"classes":   "<?php " + masktest.Nested("function f() { class A { function m() { ", "g();", " } } }"),
	})
}
