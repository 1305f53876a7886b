package survey

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/scenario"
	"github.com/benchmint/benchmint/schemas"
)

// groups are the groups of a recorded service with their suites, by name. model is who was asked
// for further requests; nil is nobody.
func (s *Surveyor) groups(table routes.Table, rec *scenario.Recording, model *proposer) ([]schemas.Group, error) {
	declared := map[string]schemas.Group{}
	for _, g := range s.declared(table) {
		declared[g.Name] = g
	}
	merged, unjudged, err := merge(rec)
	if err != nil {
		return nil, err
	}
	var out []schemas.Group
	for i, recorded := range rec.Groups {
		name := merged[i].Name
		g := declared[name]
		g.Asked = model.asked(recorded, unjudged[i])
		if g.Refused == "" {
			g.Refused, g.Detail = s.lacks(g, recorded, merged[i])
		}
		if g.Refused == "" {
			suite := contract.Suite{Format: contract.Format, Ready: ready(table, name, rec.Unready), Groups: []*contract.Group{merged[i]}}
			for j, other := range rec.Groups {
				if j != i && rec.Independent(other.Name, recorded.Name) && judges(merged[j]) > 0 {
					suite.Groups = append(suite.Groups, merged[j])
				}
			}
			raw, err := contract.Encode(suite)
			if err != nil {
				return nil, fmt.Errorf("writing the cases of group %s: %w", name, err)
			}
			if g.Suite, err = s.blobs.Put(raw); err != nil {
				return nil, fmt.Errorf("keeping the cases of group %s: %w", name, err)
			}
		}
		out = append(out, g)
	}
	return out, nil
}

// declared are the groups of a table by name, each with what it lacks that no recording gives.
func (s *Surveyor) declared(table routes.Table) []schemas.Group {
	endpoints := map[string][]schemas.Endpoint{}
	for _, r := range table.Routes {
		e := schemas.Endpoint{Method: r.Method, Path: r.Path, Takes: r.Takes()}
		if r.Handler.Name != "" {
			e.Handler = schemas.FunctionName(r.Handler.Path, r.Handler.Name)
		}
		name := contract.GroupName(r.Group())
		endpoints[name] = append(endpoints[name], e)
	}
	var out []schemas.Group
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		g := schemas.Group{Name: name, Framework: table.Framework, Endpoints: endpoints[name]}
		switch {
		case len(g.Handlers()) == 0:
			g.Refused, g.Detail = schemas.NamelessGroup, fmt.Sprintf("none of its %d endpoints is known to be answered by a function of the tree", len(g.Endpoints))
		case len(g.Endpoints) < s.config.MinEndpoints:
			g.Refused, g.Detail = schemas.SmallGroup, fmt.Sprintf("%d of its endpoints, at least %d are asked for", len(g.Endpoints), s.config.MinEndpoints)
		}
		out = append(out, g)
	}
	return out
}

// merge gives what the replays of each group have in common, and of each why a case is not judged.
func merge(rec *scenario.Recording) (out []*contract.Group, unjudged []map[string]string, err error) {
	for _, g := range rec.Groups {
		why := map[string]string{}
		unjudged = append(unjudged, why)
		name := contract.GroupName(g.Name)
		if len(g.Replays) == 0 { // it could not be recorded
			out = append(out, &contract.Group{Name: name})
			continue
		}
		merged, err := contract.Merge(g.Cases, g.Replays)
		if err != nil {
			return nil, nil, fmt.Errorf("merging the replays of group %s: %w", name, err)
		}
		for _, d := range merged.Report.Dropped {
			why[d.Case] = d.Reason
		}
		out = append(out, &contract.Group{Name: name, Cases: merged.Cases})
	}
	return out, unjudged, nil
}

// lacks says why no task can be made of a group that was recorded (gate G0).
func (s *Surveyor) lacks(g schemas.Group, rec *scenario.Group, cases *contract.Group) (schemas.Reason, string) {
	answered, _ := rec.Answered()
	writes := 0
	for _, e := range rec.Endpoints {
		if e.Method != "GET" && e.Answered {
			writes++
		}
	}
	switch {
	case float64(answered) < s.config.MinAnswered*float64(len(g.Endpoints)):
		return schemas.SilentGroup, fmt.Sprintf("%d of %d endpoints answer a good request, at least %.0f %% are asked for%s", answered, len(g.Endpoints), 100*s.config.MinAnswered, leftOut(rec))
	case rec.ReadBack() == 0:
		return schemas.NoReadBack, fmt.Sprintf("%d of its endpoints write something, and no later answer shows any of that", writes)
	case judges(cases) == 0:
		return schemas.SilentGroup, "no answer is the same in all replays"
	}
	return "", ""
}

// leftOut names the first things that were left out of a scenario.
func leftOut(rec *scenario.Group) string {
	const most = 6
	var out []string
	for _, l := range rec.Left[:min(most, len(rec.Left))] {
		out = append(out, l.String())
	}
	if len(out) == 0 {
		return ""
	}
	return "; " + strings.Join(out, "; ")
}

// judges counts the cases of a group that are judged.
func judges(g *contract.Group) int {
	n := 0
	for _, c := range g.Cases {
		if c.Expect != nil {
			n++
		}
	}
	return n
}

// probes are the paths that are asked with GET to tell whether a service is up: those without
// parameters.
func probes(table routes.Table) []string {
	var out []string
	for _, r := range table.Routes {
		if r.Method == http.MethodGet && plain(r.Path) && !slices.Contains(out, r.Path) {
			out = append(out, r.Path)
		}
	}
	return out
}

// maxProbes bounds how many paths whoever waits for a service asks.
const maxProbes = 6

// ready are the probes of a suite: those of other groups, without the ones that the original does
// not answer well; the root where there are none.
func ready(table routes.Table, group string, unready []string) []string {
	out := slices.DeleteFunc(probes(table), func(path string) bool {
		return slices.Contains(unready, path) || contract.GroupName(routes.Route{Path: path}.Group()) == group
	})
	if len(out) == 0 {
		return []string{"/"}
	}
	return out[:min(maxProbes, len(out))]
}

func plain(path string) bool {
	return !slices.ContainsFunc([]byte(path), func(c byte) bool { return c == '{' || c == '}' || c <= ' ' })
}
