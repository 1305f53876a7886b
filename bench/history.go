package main

import (
	"fmt"
	"strings"
)

// changes is how many the repository has. One of them proves nothing, and one
// needs runs of the base state.
const (
	changes    = 20
	noF2P      = 10
	baseNeeded = 15
)

// suite takes about three seconds beside its start: enough for the targeted runs
// to be cheap against it, as in a real repository.
const suite = `import time

import pytest


@pytest.mark.parametrize("n", range(30))
def test_slow(n):
    time.sleep(0.1)
`

// history is the txtar of the repository.
func history() string {
	var b strings.Builder
	b.WriteString(`-- commit: Start --
date: 2025-06-02T08:00:00Z
-- pyproject.toml --
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "bench-steps"
version = "1.0"
requires-python = ">=3.9"

[dependency-groups]
test = ["pytest"]

[tool.setuptools]
packages = ["steps"]
-- tests/test_slow.py --
` + suite + `-- tests/test_loaded.py --
from steps import START


def test_start():
    assert START == 0
-- steps/__init__.py --
START = 0
`)
	code := "START = 0\n"
	for n := 1; n <= changes; n++ {
		fmt.Fprintf(&b, "-- commit: Add step %d (#%d) --\n", n, n)
		code += fmt.Sprintf("\n\ndef step_%d():\n    return %d\n", n, n)
		fmt.Fprintf(&b, "-- steps/__init__.py --\n%s", code)
		switch n {
		case noF2P:
			fmt.Fprintf(&b, "-- tests/test_step_%d.py --\ndef test_nothing():\n    assert True\n", n)
		case baseNeeded:
			// The whole file does not load at start; its old test passed at base.
			fmt.Fprintf(&b, "-- tests/test_loaded.py --\nfrom steps import START, step_%d\n\n\ndef test_start():\n    assert START == 0\n\n\ndef test_step():\n    assert step_%d() == %d\n", n, n, n)
		default:
			fmt.Fprintf(&b, "-- tests/test_step_%d.py --\nimport steps\n\n\ndef test_step():\n    assert steps.step_%d() == %d\n", n, n, n)
		}
	}
	return b.String()
}
