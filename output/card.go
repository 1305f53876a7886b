package output

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/schemas"
)

// features are the columns of a row for the card's header. All are strings, so
// that an empty split and a full one have the same types.
var features = []string{
	"instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement", "hints_text", "created_at",
	"version", "FAIL_TO_PASS", "PASS_TO_PASS", "environment_setup_commit", "benchmint",
}

// Columns are those of a row, in order.
func Columns() []string { return slices.Clone(features) }

// card is the README with the header that Hugging Face reads. It is a function of
// the manifest and the rows alone, so that check can make it again.
func card(m Manifest, t *tally) []byte {
	var b bytes.Buffer
	frontMatter(&b, m, t)
	fmt.Fprintf(&b, "\n# %s\n\nProved tasks: %d. Not taken: %d rejected, %d deferred, %d failed (`%s` says why).\n",
		plain(m.Name), m.Counts.Tasks, m.Counts.Rejected, m.Counts.Deferred, m.Counts.Failed, RejectsFile)
	if m.Counts.Open > 0 {
		fmt.Fprintf(&b, "Items that were still open when this was written: %d.\n", m.Counts.Open)
	}
	releaseText(&b, m, t)
	hiddenText(&b, m)
	freshnessText(&b, m, t)
	storageText(&b, m)
	columnsText(&b, m, t)
	funnelTable(&b, m)
	m.Balance.print(&b, m)
	t.reviews.print(&b, t.tasks())
	if t.tasks() > 0 {
		tasksTable(&b, t)
		statisticsTable(&b, m, t)
		tallies(&b, t)
		t.edits.print(&b)
		t.services.print(&b)
		t.libraries.print(&b)
		t.slices.print(&b)
	}
	return b.Bytes()
}

// frontMatter: without `configs` a loader guesses at every data file of the folder,
// rejects included. It names the Parquet alone: the types of that are written, not
// guessed, and Hugging Face's loader reads all configurations of a folder with the
// reader of the first.
func frontMatter(b *bytes.Buffer, m Manifest, t *tally) {
	fmt.Fprintf(b, "---\npretty_name: %q\n", m.Name)
	licences(b, t)
	fmt.Fprintf(b, "task_categories:\n- text-generation\nlanguage:\n- en\ntags:\n- benchmint\n- code\n- software-engineering\n- swe-bench\n")
	for _, l := range slices.Sorted(maps.Keys(t.languages)) {
		fmt.Fprintf(b, "- %q\n", l)
	}
	fmt.Fprintf(b, "size_categories:\n- %s\nconfigs:\n", sizeCategory(m.Counts.Tasks))
	configText(b, m, t, "default", parquetPath)
	configsText(b, m, t)
	fmt.Fprintf(b, "dataset_info:\n  config_name: default\n  features:\n")
	for _, f := range features {
		fmt.Fprintf(b, "  - name: %s\n    dtype: string\n", f)
	}
	fmt.Fprintf(b, "---\n")
}

// hubLicences are the SPDX identifiers that Hugging Face knows, by its own word.
var hubLicences = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"0BSD": "0bsd", "AFL-3.0": "afl-3.0", "AGPL-3.0": "agpl-3.0", "Apache-2.0": "apache-2.0", "Artistic-2.0": "artistic-2.0", "BSD-2-Clause": "bsd-2-clause",
		"BSD-3-Clause": "bsd-3-clause", "BSD-3-Clause-Clear": "bsd-3-clause-clear", "BSL-1.0": "bsl-1.0", "CC-BY-4.0": "cc-by-4.0", "CC0-1.0": "cc0-1.0",
		"ECL-2.0": "ecl-2.0", "EPL-1.0": "epl-1.0", "EPL-2.0": "epl-2.0", "EUPL-1.1": "eupl-1.1", "EUPL-1.2": "eupl-1.2", "GPL-2.0": "gpl-2.0", "GPL-3.0": "gpl-3.0", "ISC": "isc",
		"LGPL-2.1": "lgpl-2.1", "LGPL-3.0": "lgpl-3.0", "LPPL-1.3c": "lppl-1.3c", "MIT": "mit", "MPL-2.0": "mpl-2.0", "MS-PL": "ms-pl", "NCSA": "ncsa", "OSL-3.0": "osl-3.0",
		"PostgreSQL": "postgresql", "Unlicense": "unlicense", "WTFPL": "wtfpl", "Zlib": "zlib",
	}
})

// licences are named in the header where every row has one that the hub knows;
// else the table below says what there is.
func licences(b *bytes.Buffer, t *tally) {
	var words []string
	for spdx := range t.licences {
		word, ok := hubLicences()[strings.TrimSuffix(strings.TrimSuffix(spdx, "-only"), "-or-later")]
		if !ok {
			fmt.Fprintf(b, "license: other\nlicense_name: see-the-table-of-licences\n")
			return
		}
		words = append(words, word)
	}
	slices.Sort(words)
	switch words = slices.Compact(words); len(words) {
	case 0:
	case 1:
		fmt.Fprintf(b, "license: %s\n", words[0])
	default:
		fmt.Fprintf(b, "license:\n- %s\n", strings.Join(words, "\n- "))
	}
}

func sizeCategory(n int) string {
	switch {
	case n < 1_000:
		return "n<1K"
	case n < 10_000:
		return "1K<n<10K"
	case n < 100_000:
		return "10K<n<100K"
	}
	return "100K<n<1M"
}

func columnsText(b *bytes.Buffer, m Manifest, t *tally) {
	fmt.Fprintf(b, "\n```python\nimport os\nfrom datasets import load_dataset\n\nDIR = os.getcwd()  # this folder, or the name of the dataset on a hub\ntasks = load_dataset(DIR, split=%[1]q)\n\n# the same rows from the JSONL\ntasks = load_dataset(DIR, data_files={%[1]q: %[2]q}, split=%[1]q)\n", m.Splits[0].Name, dataPath(m.Splits[0].Name))
	configsLoaded(b, m, t)
	fmt.Fprintf(b, "```\n")
	fmt.Fprintf(b, "\nEach row has the columns of SWE-bench, all of them strings. `FAIL_TO_PASS`, `PASS_TO_PASS` and `benchmint` are JSON text.\n")
	fmt.Fprintf(b, "A patch that is not UTF-8 is base64 (`patch_encoding` in `benchmint`); `%s/<ID>/` holds it as it is.\n", TasksDir)
	fmt.Fprintf(b, "`image_key` names the image that a task is worked on in: rows with one key need one image.\n")
	fmt.Fprintf(b, "`%s` are the tests that ever disagreed with themselves; no list of a row holds one of them.\n", FlakesFile)
	fmt.Fprintf(b, "\n    benchmint check DIR         # lint it: nothing is run\n    benchmint prove DIR [ID…]   # prove tasks again from these files alone\n    sha256sum -c %s\n", ChecksumsFile)
}

func funnelTable(b *bytes.Buffer, m Manifest) {
	lines := levels(m)
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Funnel\n\n![funnel](%s)\n\n| | Count | Of those before | Taken out |\n| --- | ---: | ---: | --- |\n", plotPath("funnel"))
	for _, l := range lines {
		fmt.Fprintf(b, "| %s | %d | %s | %s |\n", l.title, l.count, l.share(), l.gone())
	}
	var stages []string
	for _, f := range m.Funnel {
		stages = append(stages, f.Stage)
	}
	fmt.Fprintf(b, "\nStages: %s.", strings.Join(stages, ", "))
	if m.Releases > 0 {
		fmt.Fprintf(b, " Releases of the repositories: %d.", m.Releases)
	}
	fmt.Fprintf(b, "\n")
}

// tasksTable lists the first tasks, in the order of the rows.
func tasksTable(b *bytes.Buffer, t *tally) {
	fmt.Fprintf(b, "\n## Tasks\n\n| Task | Language | Label | FAIL_TO_PASS | What is asked for |\n| --- | --- | --- | ---: | --- |\n")
	for _, l := range t.listed {
		fmt.Fprintf(b, "| [%s](%s) | %s | %s | %d | %s |\n", plain(l.id), path.Join(TasksDir, l.id, StatementFile), plain(l.language), plain(l.label), l.failToPass, cell(plain(l.wish)))
	}
	if more := t.tasks() - len(t.listed); more > 0 {
		fmt.Fprintf(b, "\n%d more.\n", more)
	}
}

// cell cuts a text after 120 characters.
func cell(s string) string {
	const most = 120
	if r := []rune(s); len(r) > most {
		return strings.TrimRight(string(r[:most]), " \\") + "…"
	}
	return s
}

const statisticsHead = "| | Mean | Median | Least | Most |\n| --- | ---: | ---: | ---: | ---: |\n"

func (s Statistic) line(b *bytes.Buffer, title string) {
	fmt.Fprintf(b, "| %s | %s | %s | %d | %d |\n", title, number(s.Mean), number(s.Median), s.Min, s.Max)
}

func statisticsTable(b *bytes.Buffer, m Manifest, t *tally) {
	fmt.Fprintf(b, "\n## Statistics\n\n%s", statisticsHead)
	for _, s := range m.Statistics {
		s.line(b, s.Title())
	}
	fmt.Fprintf(b, "\nSource files are those of the task's language, tests and all. The gold patch is counted by its code part.\n\n")
	for _, x := range metrics {
		fmt.Fprintf(b, "![%s](%s)\n", x.title, plotPath(x.name))
	}
	if kinds := slices.Compact(slices.Sorted(slices.Values(t.of))); len(kinds) > 1 {
		kindsTable(b, t, kinds)
	}
}

// kindsTable has the mean and the median of each figure, kind by kind: those of all kinds together say little of one.
func kindsTable(b *bytes.Buffer, t *tally, kinds []schemas.Kind) {
	head, rule := "| Mean (median)", "| ---"
	lines := make([]string, len(metrics))
	for _, k := range kinds {
		of := t.kind(k)
		head += fmt.Sprintf(" | %s: %d", k, len(of[0]))
		rule += " | ---:"
		for i, x := range metrics {
			s := statistic(x.name, of[i])
			lines[i] += fmt.Sprintf(" | %s (%s)", number(s.Mean), number(s.Median))
		}
	}
	fmt.Fprintf(b, "\n%s |\n%s |\n", head, rule)
	for i, x := range metrics {
		fmt.Fprintf(b, "| %s%s |\n", x.title, lines[i])
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func tallies(b *bytes.Buffer, t *tally) {
	if t.hunks > 0 {
		fmt.Fprintf(b, "\nOf %d hunks of the code parts that were taken back one by one, FAIL_TO_PASS tests notice %d (%.1f %%).\n", t.hunks, t.noticed, 100*float64(t.noticed)/float64(t.hunks))
	}
	for _, f := range []struct {
		finding schemas.HunkFinding
		says    string
	}{{schemas.NoneNoticed, "FAIL_TO_PASS tests notice no hunk by itself"}, {schemas.NoneTried, "no hunk was taken back"}} {
		if n := t.findings[f.finding]; n > 0 {
			fmt.Fprintf(b, "\nTasks of which %s (`adequacy.finding` is `%s`): %d.\n", f.says, f.finding, n)
		}
	}
	if t.byHand > 0 {
		fmt.Fprintf(b, "\nTasks whose statement or interface somebody wrote by hand (`written_by` is `hand`): %d.\n", t.byHand)
	}
	if len(t.labels) > 0 {
		counts(b, "Label", t.labels)
	}
	counts(b, "Language", t.languages)
	if len(t.categories) > 0 {
		counts(b, "Category", t.categories)
	}
	counts(b, "Repository", t.repos)
	fmt.Fprintf(b, "\nThe code belongs to its authors. Licences of the repositories:\n")
	counts(b, "Licence", t.licences)
}

const tableRows = 100

// counts is a table of words, most tasks first.
func counts(b *bytes.Buffer, title string, of map[string]int) {
	words := slices.SortedFunc(maps.Keys(of), func(x, y string) int { return cmp.Or(of[y]-of[x], strings.Compare(x, y)) })
	fmt.Fprintf(b, "\n| %s | Tasks |\n| --- | ---: |\n", title)
	for _, w := range words[:min(len(words), tableRows)] {
		fmt.Fprintf(b, "| %s | %d |\n", plain(w), of[w])
	}
	if more := len(words) - tableRows; more > 0 {
		fmt.Fprintf(b, "\n%d more.\n", more)
	}
}

// plain is text of others in a table: names come from strangers' repositories.
func plain(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "`", "'", "[", `\[`).Replace(s)
}

func orUnknown(licence string) string {
	if licence == "" {
		return "not recognised"
	}
	return licence
}

// plotPath is where a plot lies.
func plotPath(name string) string { return path.Join(PlotsDir, name+".svg") }

// plots are all plots of a dataset, by path.
func plots(m Manifest, t *tally) (map[string][]byte, error) {
	out := map[string][]byte{}
	if lines := levels(m); len(lines) > 0 {
		b, err := funnelPlot(lines)
		if err != nil {
			return nil, err
		}
		out[plotPath("funnel")] = b
	}
	for i, x := range metrics {
		if t.tasks() == 0 {
			break
		}
		b, err := histogram(x.title, x.unit, t.figures[i])
		if err != nil {
			return nil, err
		}
		out[plotPath(x.name)] = b
	}
	if err := t.libraries.plots(out); err != nil {
		return nil, err
	}
	return out, nil
}
