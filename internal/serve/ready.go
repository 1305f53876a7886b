package serve

import (
	"slices"
	"strings"
	"time"
)

// Bounds of the question whether a service is ready.
const (
	MostProbes   = 6
	CleanRounds  = 2
	BetweenRound = 200 * time.Millisecond
)

// Route is what a question needs of an endpoint.
type Route struct{ Method, Path, Group string }

// Probes are the paths that a service is asked for before it counts as ready: parameterless
// GETs of the groups that use admits, spread over the groups, at most MostProbes of them.
func Probes(all []Route, use func(group string) bool) []string {
	byGroup := map[string][]string{}
	var groups []string
	for _, r := range all {
		if r.Method != "GET" || strings.ContainsAny(r.Path, "{}*<>") || !use(r.Group) {
			continue
		}
		g := r.Group
		if byGroup[g] == nil {
			groups = append(groups, g)
		}
		if !slices.Contains(byGroup[g], r.Path) {
			byGroup[g] = append(byGroup[g], r.Path)
		}
	}
	slices.Sort(groups)
	var out []string
	for round := 0; len(out) < MostProbes; round++ {
		more := false
		for _, g := range groups {
			if round < len(byGroup[g]) && len(out) < MostProbes {
				out, more = append(out, byGroup[g][round]), true
			}
		}
		if !more {
			break
		}
	}
	return out
}

// Rounds counts the rounds of probes in which nothing failed. The zero value has seen none.
type Rounds struct{ clean int }

// Add takes the statuses of one round, 0 for a connection that was refused or reset, and
// reports whether the service is ready: CleanRounds rounds in a row had none of these and no
// status of a server error. A round without any probe says nothing.
func (r *Rounds) Add(statuses []int) bool {
	bad := func(status int) bool { return status < 100 || status >= 500 }
	if len(statuses) == 0 || slices.ContainsFunc(statuses, bad) {
		r.clean = 0
		return false
	}
	r.clean++
	return r.clean >= CleanRounds
}
