package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/schemas"
)

// casesPath is where a suite has its cases.
const casesPath = schemas.SuiteFolder + "/cases.json"

// casesIn are the cases that a test patch adds; none where it adds no suite.
func casesIn(testPatch []byte) contract.Suite {
	_, rest, found := strings.Cut(string(testPatch), "\n+++ b/"+casesPath+"\n")
	if !found {
		return contract.Suite{}
	}
	var b strings.Builder
	for line := range strings.SplitSeq(rest, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			b.WriteString(line[1:] + "\n")
			continue
		case strings.HasPrefix(line, "@@"):
			continue
		}
		break
	}
	suite, err := contract.Decode([]byte(b.String()))
	if err != nil {
		return contract.Suite{}
	}
	return suite
}

// asked counts the cases of a suite that are judged, and the endpoints of a group that these ask.
func asked(s contract.Suite, group string) (cases, endpoints int) {
	seen := map[string]bool{}
	for _, g := range s.Groups {
		for _, c := range g.Cases {
			if c.Expect == nil {
				continue
			}
			cases++
			if c.Group == group {
				seen[c.Endpoint.String()] = true
			}
		}
	}
	return cases, len(seen)
}

// EndpointTests are the judged tests of each endpoint of a service's group, by its name.
func (r Row) EndpointTests() map[string][]string {
	x := r.Benchmint.Service
	if x == nil {
		return nil
	}
	out := map[string][]string{}
	for _, g := range casesIn([]byte(r.TestPatch)).Groups {
		for _, c := range g.Cases {
			if name := c.Endpoint.String(); c.Expect != nil && c.Group == x.Group {
				out[name] = append(out[name], c.TestID(g.Name))
			}
		}
	}
	return out
}

// serviceTally is the section of a card on services.
type serviceTally struct {
	all serviceSum
	by  []map[string]serviceSum // by serviceGroups
}

// serviceSum are the figures of some tasks.
type serviceSum struct{ tasks, endpoints, asked, cases, failToPass, passToPass int }

func (s serviceSum) plus(o serviceSum) serviceSum {
	return serviceSum{s.tasks + o.tasks, s.endpoints + o.endpoints, s.asked + o.asked, s.cases + o.cases, s.failToPass + o.failToPass, s.passToPass + o.passToPass}
}

// serviceGroups are what tasks of services are counted by. Each task has one word of each.
var serviceGroups = []struct {
	title string
	of    func(Row) string
}{
	{"Language", func(r Row) string { return r.Benchmint.Language }},
	{"Framework", func(r Row) string { return r.Benchmint.Service.Framework }},
	{"Database", func(r Row) string {
		if r.Benchmint.Service.Database == "" {
			return "none"
		}
		return r.Benchmint.Service.Database
	}},
	{"Category", func(r Row) string { return r.Benchmint.Service.Category }},
}

func newServiceTally() *serviceTally {
	t := &serviceTally{}
	for range serviceGroups {
		t.by = append(t.by, map[string]serviceSum{})
	}
	return t
}

func (t *serviceTally) add(r Row) {
	x := r.Benchmint.Service
	if x == nil {
		return
	}
	one := serviceSum{1, len(x.Endpoints), x.EndpointsAsked, x.Cases, len(r.FailToPass), len(r.PassToPass)}
	t.all = t.all.plus(one)
	for i, g := range serviceGroups {
		word := g.of(r)
		t.by[i][word] = t.by[i][word].plus(one)
	}
}

// print writes the section; nothing where there are no services.
func (t *serviceTally) print(b *bytes.Buffer) {
	if t.all.tasks == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Services\n\nEach task is one group of endpoints. Endpoints are those of the group; the judged cases ask some of them, and endpoints of other groups.\n")
	for i, g := range serviceGroups {
		fmt.Fprintf(b, "\n| %s | Tasks | Endpoints | Asked | Cases | FAIL_TO_PASS | PASS_TO_PASS |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n", g.title)
		counts := map[string]int{}
		for word, s := range t.by[i] {
			counts[word] = s.tasks
		}
		for _, word := range often(counts) {
			t.by[i][word].line(b, plain(word))
		}
		t.all.line(b, "All")
	}
}

func (s serviceSum) line(b *bytes.Buffer, title string) {
	fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d |\n", title, s.tasks, s.endpoints, s.asked, s.cases, s.failToPass, s.passToPass)
}

// OtherCategory is the category of a service whose words name no other.
const OtherCategory = "other"

// serviceCategories are those of ABC-Bench's Table 6, each with the words of paths that tell it.
// The first one that holds is taken.
var serviceCategories = []struct {
	name  string
	words []string
}{
	{"identity", strings.Fields("user account profile auth login logout signup register session token role permission password oauth me member")},
	{"commerce", strings.Fields("product order cart basket checkout payment invoice price shop store customer coupon shipping billing subscription catalog catalogue sale refund wallet transaction")},
	{"communication", strings.Fields("message chat mail email sms notification channel room conversation contact inbox thread forum reply invite invitation")},
	{"analytics", strings.Fields("metric report stat statistic analytics dashboard chart event tracking insight summary measurement")},
	{"devtools", strings.Fields("repo repository build deploy deployment pipeline webhook snippet project issue task todo commit branch package release url shorten shortener job test")},
	{"infrastructure", strings.Fields("server node cluster health host container vm network dns config configuration device status ping backup file bucket")},
	{"entertainment", strings.Fields("game movie film song music album artist playlist player score team match show anime character video podcast")},
	{"content", strings.Fields("article post blog comment tag page note book author category news wiki feed document media photo image gallery recipe favorite bookmark quote item")},
	{"specialized", strings.Fields("patient doctor appointment vet pet visit owner flight booking reservation hotel student course school lesson bank loan weather vehicle car employee department property listing restaurant menu specialty")},
}

// categoryOf is the category of a service task: by the name of its group, else by the segments of
// the paths of its endpoints; of several that hold, the first one of the table.
func categoryOf(group string, endpoints []schemas.Endpoint) string {
	var paths []string
	for _, e := range endpoints {
		paths = append(paths, e.Path)
	}
	for _, text := range []string{group, strings.Join(paths, "/")} {
		words := pathWords(text)
		for _, c := range serviceCategories {
			if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(c.words, w) }) {
				return c.name
			}
		}
	}
	return OtherCategory
}

// pathWords are the words of a path without its parameters, in the singular.
func pathWords(path string) (out []string) {
	for segment := range strings.SplitSeq(strings.ToLower(path), "/") {
		if strings.HasPrefix(segment, "{") || strings.HasPrefix(segment, ":") {
			continue
		}
		for _, w := range strings.FieldsFunc(segment, func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
			switch {
			case strings.HasSuffix(w, "ies") && len(w) > 4:
				out = append(out, strings.TrimSuffix(w, "ies")+"y")
			default:
				out = append(out, w)
			}
			if s, ok := strings.CutSuffix(w, "s"); ok {
				out = append(out, s)
			}
		}
	}
	return out
}
