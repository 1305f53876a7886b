package score

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Part is the figures over the tasks that have one value of a breakdown.
type Part struct {
	Value   string  `json:"value"`
	Metrics Metrics `json:"metrics"`
}

// Breakdown is the figures by one property of tasks, in the order of its values. Tasks that do not have the property are in no part.
type Breakdown struct {
	By    string `json:"by"`
	Parts []Part `json:"parts"`
}

// Class is the tasks that have one value of a property.
type Class struct {
	Value string
	Tasks []Task
}

// Property is what tasks are told apart by, with the classes that there are, in their order.
type Property struct {
	By, Title string
	Classes   []Class
}

// properties are those of breakdowns. The value "" is none.
var properties = []struct {
	by, title string
	value     func(Task) (order int, value string)
}{
	{"language", "Language", func(t Task) (int, string) { return 0, t.Language }},
	{"kind", "Kind", func(t Task) (int, string) { return 0, string(t.Kind) }},
	{"repository", "Repository", func(t Task) (int, string) { return 0, t.Repo }},
	{"domain", "Domain", func(t Task) (int, string) { return 0, t.Domain }},
	{"repository_files", "Files of the repository", func(t Task) (int, string) { return within(t.RepoFiles, repoFileBounds) }},
	{"repository_lines", "Lines of the repository", func(t Task) (int, string) { return within(t.RepoLines, repoLineBounds) }},
	{"files", "Code files of the gold patch", func(t Task) (int, string) { return within(len(t.Files), fileBounds) }},
	{"lines", "Lines of the gold patch", func(t Task) (int, string) { return within(t.Lines, lineBounds) }},
	{"framework", "Framework", func(t Task) (int, string) { return 0, t.Framework }},
	{"category", "Category of a service", func(t Task) (int, string) { return 0, t.Category }},
	{"environment", "Environment of a service", func(t Task) (int, string) {
		switch {
		case t.Kind != schemas.KindService:
			return 0, ""
		case t.Variant == schemas.VariantEnv:
			return 1, "the solver's"
		}
		return 0, "the task's"
	}},
	{"specification", "Specification of a library", func(t Task) (int, string) { return 0, t.Specification }},
	{"split", "Split", func(t Task) (int, string) { return 0, t.Split }},
	{"release", "Release", func(t Task) (int, string) { return 0, t.Release }},
	{"part", "Part", func(t Task) (int, string) { return 0, t.Part }},
	{"created", "Quarter", func(t Task) (int, string) { return 0, quarter(t.CreatedAt) }},
}

// Properties are those that some of the tasks have.
func Properties(tasks []Task) []Property {
	var out []Property
	for _, by := range properties {
		type key struct {
			order int
			value string
		}
		groups := map[key][]Task{}
		for _, t := range tasks {
			if order, value := by.value(t); value != "" {
				groups[key{order, value}] = append(groups[key{order, value}], t)
			}
		}
		p := Property{By: by.by, Title: by.title}
		for _, k := range slices.SortedFunc(maps.Keys(groups), func(a, b key) int {
			return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.value, b.value))
		}) {
			p.Classes = append(p.Classes, Class{k.value, groups[k]})
		}
		if len(p.Classes) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// Breakdowns are the figures of answers by each property of their tasks: FeatBench's Figures 4 (files and lines of the repository),
// 5 (of the gold patch) and 6 (date of creation) and ABC-Bench's 7 (category) are among them.
func Breakdowns(tasks []Task, all []Answer) []Breakdown {
	var out []Breakdown
	for _, p := range Properties(tasks) {
		b := Breakdown{By: p.By}
		for _, c := range p.Classes {
			in := map[string]bool{}
			for _, t := range c.Tasks {
				in[t.Instance] = true
			}
			of := slices.DeleteFunc(slices.Clone(all), func(a Answer) bool { return !in[a.Task.Instance] })
			b.Parts = append(b.Parts, Part{Value: c.Value, Metrics: Of(c.Tasks, of)})
		}
		out = append(out, b)
	}
	return out
}

// bound is the largest number of a class of sizes, and its name.
type bound struct {
	most int
	name string
}

// The ends of the classes of repositories are FeatBench's; the paper does not print those between.
var (
	fileBounds     = []bound{{1, "1"}, {2, "2"}, {3, "3"}, {5, "4-5"}, {math.MaxInt, "6+"}}
	lineBounds     = []bound{{10, "1-10"}, {30, "11-30"}, {50, "31-50"}, {100, "51-100"}, {200, "101-200"}, {math.MaxInt, "201+"}}
	repoFileBounds = []bound{{199, "below 200"}, {399, "200-399"}, {599, "400-599"}, {800, "600-800"}, {math.MaxInt, "above 800"}}
	repoLineBounds = []bound{{49_999, "below 50,000"}, {99_999, "50,000-99,999"}, {199_999, "100,000-199,999"}, {300_000, "200,000-300,000"}, {math.MaxInt, "above 300,000"}}
)

func within(n int, bounds []bound) (int, string) {
	i := slices.IndexFunc(bounds, func(b bound) bool { return n <= b.most })
	return i, bounds[i].name
}

func quarter(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	t = t.UTC()
	return t.Format("2006") + "-Q" + string(rune('1'+(int(t.Month())-1)/3))
}
