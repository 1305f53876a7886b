package output

import (
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// kind is all that a dataset does for one kind of task alone.
type kind struct {
	name schemas.Kind
	// hidden tests are in test_patch, which the solver does not get; else it is empty.
	hidden bool
	// lints are the rules of a row beside those of every row.
	lints []func(*linter)
	// funnel is how its items come to be.
	funnel branch
}

// kinds is the table. A later kind adds a row here, an object of its own to Extra and a
// fact to schemas.Origin.
var kinds = []kind{
	{
		name: schemas.KindFeature, hidden: true,
		lints: []func(*linter){(*linter).change, (*linter).wish, (*linter).label},
		funnel: branch{
			stage: "link", title: "Changes (pull requests)",
			filters: []filter{
				{title: "with code and tests"},
				{title: "that only modify existing functions", reasons: []schemas.Reason{schemas.AddsFunctions, schemas.DropsFunctions, schemas.UnreadSource}, key: "filters.modifies_only"},
			},
		},
	},
	edits,
	libraries,
	services,
}

// edits is the row of the edit kind.
var edits = kind{
	name: schemas.KindEdit, hidden: true,
	lints: []func(*linter){(*linter).change, (*linter).order, (*linter).label},
	funnel: branch{
		stage: "range", title: "Ranges of commits",
		filters: []filter{{title: "with code and tests"}},
	},
}

// libraries is the row of the library kind.
var libraries = kind{
	name:  schemas.KindLibrary,
	lints: []func(*linter){(*linter).library},
	funnel: branch{
		stage: "mask", title: "Releases",
		filters: []filter{{title: "that a starter can be made of"}},
	},
}

// kindOf is the row of a kind; false where there is none.
func kindOf(name schemas.Kind) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// services is the row of the service kind.
var services = kind{
	name: schemas.KindService, hidden: true,
	lints: []func(*linter){(*linter).service},
	funnel: branch{
		stage: "strip", title: "Groups of endpoints",
		filters: []filter{
			{title: "that answer, and of which something is read back", reasons: []schemas.Reason{schemas.SilentGroup, schemas.SmallGroup, schemas.NamelessGroup, schemas.NoReadBack}},
			{title: "that a starter can be made of"},
		},
	},
}
