package php

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskLoads: what stays because it runs when the file is included, by plain names.
func TestMaskLoads(t *testing.T) {
	t.Parallel()
	masktest.Keeps(t, Masker{}, "-- src/a.php --\n<?php\nnamespace A;\n", map[string][2]string{
		"a_call":              {"f();\nfunction f() { return 1; }\nfunction g() { return f(); }\n", "f"},
		"what_that_calls":     {"f();\nfunction f() { return g(); }\nfunction g() { return h(); }\nfunction h() { return 1; }\nfunction i() { return 1; }\n", "f g h"},
		"a_call_on_a_class":   {"B\\C::make();\n-- src/c.php --\n<?php\nclass C {\n static function make() { return new static; }\n function __construct() { $this->m(); }\n private function m() { return 1; }\n function n() { return 1; }\n}\nclass D { function n() { return 1; } }\n", "C.make C.__construct C.m"},
		"an_object":           {"$c = new \\B\\C(1);\n$c->run();\n-- src/c.php --\n<?php\nclass C {\n function __construct() { $this->a = 1; }\n function run() { return 1; }\n function stop() { return 1; }\n}\n", "C.__construct C.run"},
		"its_own_class":       {"f();\nfunction f() { return C::make(); }\nclass C {\n function __construct() { $this->a = 1; }\n static function make() { return new self(1); }\n static function other() { return new parent(1); }\n}\n", "f C.__construct C.make"},
		"another_name":        {"use B\\{C as D, function f as g};\ng(D::m());\nD::o(...);\n-- src/c.php --\n<?php\nfunction f() { return 1; }\nclass C {\n static function m() { return 1; }\n static function o() { return 1; }\n}\n", "f C.m"},
		"a_class_of_others":   {"\\Other\\Log::open();\n-- src/c.php --\n<?php\nclass C { static function open() { return 1; } }\n", ""},
		"in_a_condition":      {"if (!defined('X')) { define('X', f()); }\nfunction f() { return 1; }\n", "f"},
		"a_class_on_the_spot": {"return new class(f()) extends C { function m() { return g(); } };\nfunction f() { return 1; }\nfunction g() { return 1; }\n-- src/c.php --\n<?php\nclass C { function __construct() { return 1; } }\n", "f"},
		"an_attribute":        {"#[C(new C)] class D { #[C(new C)] const X = 1; }\nclass C { function __construct() { $this->a = 1; } }\n", ""},
		"no_method":           {"count($a);\nsort($a);\nclass C { function count() { return 1; } }\n-- src/c.php --\n<?php\nclass D { function sort() { return 1; } }\n", ""},
		"in_functions_only":   {"function f($a = new C) { static $b = 1; return g(); }\nfunction g() { return 1; }\nclass C { function __construct() { $this->a = 1; } }\n", ""},
	})
}
