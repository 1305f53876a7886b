package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Compare gives what fails in the starter only. whole is Check.Whole.
func Compare(source, starter Report, whole bool) Result {
	source, starter = source.tidy(), starter.tidy()
	failing := units(source.Faults)
	out := Result{Units: len(source.Units), Faults: []Fault{}, Source: source.Faults}
	had := map[string]int{}
	for _, f := range source.Faults {
		had[f.key()]++
	}
	for _, f := range starter.Faults {
		switch {
		case whole && failing[f.Unit]:
		case had[f.key()] > 0:
			had[f.key()]--
		default:
			out.Faults = append(out.Faults, f)
		}
	}
	if starter.Untold != "" && len(out.Faults) == 0 {
		out.State, out.Reason = Untold, "in the starter: "+starter.Untold
		return out
	}
	fails, clear := units(starter.Faults), len(out.Faults) == 0
	for _, u := range source.Units {
		_, tried := slices.BinarySearch(starter.Units, u)
		switch {
		case failing[u]:
		case !tried && !clear: // what it needs fails, which is said
		case !tried:
			out.Faults = append(out.Faults, Fault{Unit: u, Message: "it is there in the source, and was not met in the starter"})
		case !fails[u]:
			out.Held++
		}
	}
	switch {
	case len(out.Faults) > 0:
		out.State = Faulty
	case out.Held == 0:
		out.State, out.Reason = Untold, "nothing of the source holds"
		if len(source.Units) == 0 {
			out.Reason = "there is nothing to try in the source"
		}
	default:
		out.State = OK
	}
	if out.Reason == "" {
		out.Reason = source.Lacks
	}
	return out
}

// longest is how many characters of a message are kept: strangers write them.
const longest = 300

// tidy sorts, and leaves out what is said twice.
func (r Report) tidy() Report {
	r.Units = slices.Compact(slices.Sorted(slices.Values(r.Units)))
	faults := slices.Clone(r.Faults)
	for i, f := range faults {
		if text := []rune(f.Message); len(text) > longest {
			faults[i].Message = string(text[:longest]) + "…"
		}
	}
	slices.SortStableFunc(faults, func(a, b Fault) int {
		if d := strings.Compare(a.Path, b.Path); d != 0 {
			return d
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Message, b.Message)
	})
	r.Faults = append([]Fault{}, slices.CompactFunc(faults, func(a, b Fault) bool {
		return a.Path == b.Path && a.Line == b.Line && a.Message == b.Message && a.Unit == b.Unit
	})...)
	return r
}

// A message may name a place, and lines of the starter are others.
var place = lazyregexp.New(`:\d+`)

func (f Fault) key() string {
	return f.Unit + "\x00" + f.Path + "\x00" + place.ReplaceAllString(f.Message, ":")
}

// Grouped puts what is said of many units in one place into one fault. They are sorted,
// as Compare gives them.
func Grouped(faults []Fault) []Fault {
	var out []Fault
	for i := 0; i < len(faults); {
		f, n := faults[i], 1
		for i+n < len(faults) && f.Path == faults[i+n].Path && f.Line == faults[i+n].Line && f.Message == faults[i+n].Message {
			n++
		}
		if i += n; n > 1 {
			f.Unit = fmt.Sprintf("%s and %d more", f.Unit, n-1)
		}
		out = append(out, f)
	}
	return out
}

// units are those that fail.
func units(faults []Fault) map[string]bool {
	out := map[string]bool{}
	for _, f := range faults {
		if f.Unit != "" {
			out[f.Unit] = true
		}
	}
	return out
}
