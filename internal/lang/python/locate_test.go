package python

import (
	"testing"

	"github.com/benchmint/benchmint/internal/lang"
)

const inheritance = `
-- tests/suite/__init__.py --
-- tests/suite/test_base.py --
from helpers import check

class Base:
    size = 1

    def test_one(self):
        assert check(self.size)

    def test_two(self):
        assert self.size == 1

class TestBase(Base):
    pass
-- tests/helpers.py --
def check(x):
    return x
-- tests/suite/test_derived.py --
from suite.test_base import Base
from suite.test_base import TestBase
import suite.test_base

class TestDerived(Base):
    def test_own(self):
        assert 3

class TestByModule(suite.test_base.Base):
    size = 1
`

// A test class that is imported or inherited is collected under another module's
// name; what decides is where its functions are written.
func TestUntouchedThroughImportsAndBases(t *testing.T) {
	t.Parallel()
	const base, derived = "tests/suite/test_base.py", "tests/suite/test_derived.py"
	all := []lang.Test{
		{ID: base + "::TestBase::test_one", Unit: base}, {ID: base + "::TestBase::test_two", Unit: base},
		{ID: derived + "::TestBase::test_one", Unit: derived}, {ID: derived + "::TestBase::test_two", Unit: derived},
		{ID: derived + "::TestDerived::test_one", Unit: derived}, {ID: derived + "::TestDerived::test_two", Unit: derived},
		{ID: derived + "::TestDerived::test_own", Unit: derived},
		{ID: derived + "::TestByModule::test_two", Unit: derived},
	}
	one := map[string]bool{base + "::TestBase::test_one": true, derived + "::TestBase::test_one": true, derived + "::TestDerived::test_one": true}
	for _, c := range []struct {
		name, from, to, changed string
		touched                 map[string]bool
	}{
		{"body_of_one", "assert check(self.size)", "assert check(self.size + 1)", base, one},
		{"helper_beside_the_package", "return x", "return not x", "tests/helpers.py", one},
		{"attribute_of_the_base", "class Base:\n    size = 1", "class Base:\n    size = 2", base, map[string]bool{
			all[0].ID: true, all[1].ID: true, all[2].ID: true, all[3].ID: true, all[4].ID: true, all[5].ID: true, all[7].ID: true,
		}},
		{"own_test", "assert 3", "assert 4", derived, map[string]bool{derived + "::TestDerived::test_own": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, s := treeOf(t, inheritance), treeOf(t, replaceOnce(t, inheritance, c.from, c.to))
			for _, x := range all {
				if got := (Language{}).Untouched(b, s, []string{c.changed})(x); got == c.touched[x.ID] {
					t.Errorf("%s: untouched is %v", x.ID, got)
				}
			}
		})
	}
}
