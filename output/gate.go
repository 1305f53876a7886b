package output

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// Gate keeps proved tasks out of a dataset: it holds the ID of each task that it lets through, by its identity.
type Gate map[schemas.Digest]string

// Hold lets a row through.
func (g Gate) Hold(r Row) { g[r.Benchmint.Identity] = r.InstanceID }

// Refuses reports whether a proved task is no row: people refuse it, its states stand under another ID already, or the
// flake ledger has left it no FAIL_TO_PASS. Of the task it reads origin, start, statement, proof and reviews.
func (g Gate) Refuses(t Task) (Reject, bool) {
	r := t.ended()
	if refusal, refused := r.refusedBy(t.Reviews); refused {
		return refusal, true
	}
	if first, ok := g[t.Start.Identity]; ok && t.Start.Identity != "" {
		r.Reason, r.Detail = schemas.DuplicateStart, "the same states as "+first
		return r, true
	}
	if len(t.QuarantinedIn) > 0 && len(t.Proof.List(schemas.F2P)) == 0 {
		r.Reason = schemas.LedgerFlaky
		for _, test := range slices.Sorted(maps.Keys(t.QuarantinedIn)) {
			r.Detail += fmt.Sprintf("%s disagreed with itself in %s\n", test, strings.Join(t.QuarantinedIn[test], ", "))
		}
		r.Detail = strings.TrimSuffix(r.Detail, "\n")
		return r, true
	}
	if len(t.QuarantinedIn) > 0 { // without the ledger describe has seen to it
		left := slices.Collect(maps.Values(causes(t.Proof)))
		if names := unnamed(left, t.Proof.Interface, t.Statement.Text); len(names) > 0 {
			r.Reason = schemas.Uncovered
			r.Detail = "without the tests of the flake ledger none fails by itself, and nothing gives " + strings.Join(names, ", ")
			return r, true
		}
	}
	g[t.Start.Identity] = t.ID()
	return Reject{}, false
}

// Refused reports whether people refuse a row that is carried on.
func (r Row) Refused(all []schemas.PeerReview) (Reject, bool) { return r.ended().refusedBy(all) }

func (r Reject) refusedBy(all []schemas.PeerReview) (Reject, bool) {
	reason, refused := schemas.Refused(all)
	r.Reason, r.Detail, r.Reviews = reason, toldOf(all), all
	return r, refused
}

// ended is the end of a task that is no row, without its reason.
func (t Task) ended() Reject {
	return Reject{InstanceID: t.ID(), Repo: t.Origin.Repo(), Commit: t.Origin.Commit(), End: schemas.StepRejected, Stage: exported}
}

// ended is the end of a row that leaves, without its reason.
func (r Row) ended() Reject {
	out := Reject{InstanceID: r.InstanceID, Repo: r.Repo, End: schemas.StepRejected, Stage: exported}
	if c := r.Benchmint.Change; c != nil {
		out.Commit = c.Commit
	} else {
		out.Commit = r.BaseCommit // of a library and a service the base commit is the release's own
	}
	return out
}
