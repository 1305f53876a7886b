package output

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// A release has one configuration of Hugging Face's client for each window and each kind, beside
// the one with all rows. The rows of a window are those that came with one version, w2026_01.

// windowOf names the configuration of the version that a row came with; "" where it is in no
// release.
func windowOf(r Row) string {
	p := r.Benchmint.Release
	if p == nil {
		return ""
	}
	return WindowOf(p.First)
}

// WindowOf names the configuration of a version's tasks.
func WindowOf(version string) string { return "w" + strings.ReplaceAll(version, ".", "_") }

func configPath(config, split string) string {
	return path.Join(DataDir, config, split+".parquet")
}

// configs are the files of a split by configuration, written beside the one with all rows.
type configs struct {
	split   string
	release *Release
	files   map[string]*configFile
	open    func(name string) (*stream, error)
}

type configFile struct {
	s *stream
	p *parquetWriter
}

// newConfigs opens none yet: which there are depends on the rows.
func (w *writer) newConfigs(s SplitInput) *configs {
	if w.release == nil {
		return nil
	}
	return &configs{s.Name, w.release, map[string]*configFile{}, w.stream}
}

// liteCard is the first version of the card that has the configuration Lite.
const liteCard = 3

// configsOf are the configurations that a row of a release is in, by the version of its card.
func configsOf(r Row, version int, of *Release) []string {
	out := []string{windowOf(r), string(r.Benchmint.Kind)}
	if version >= liteCard && r.In(Lite) {
		out = append(out, Lite)
	}
	return append(out, of.since(r)...)
}

func (c *configs) add(r Row, line []byte) error {
	if c == nil {
		return nil
	}
	for _, name := range configsOf(r, CardVersion, c.release) {
		f, ok := c.files[name]
		if !ok {
			s, err := c.open(configPath(name, c.split))
			if err != nil {
				return err
			}
			f = &configFile{s, newParquet(s)}
			c.files[name] = f
		}
		if err := f.p.add(line); err != nil {
			return err
		}
	}
	return nil
}

func (c *configs) close(w *writer) error {
	if c == nil {
		return nil
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		errs = append(errs, c.files[name].p.close(), w.keep(c.files[name].s))
	}
	return errors.Join(errs...)
}

// Configs are the configurations of the dataset that a client opens by name, beside "default":
// windows, oldest first, then kinds, then the libraries of Lite, then those after cut-offs.
func (d *Dataset) Configs() []string {
	t := newTally()
	for _, r := range d.Rows {
		t.add(r.Row)
	}
	return slices.DeleteFunc(t.configs(d.Manifest.Release), func(name string) bool { return name == Lite && d.Manifest.Card < liteCard })
}

// ConfigRows are the IDs of a split's rows by configuration, without "default".
func (d *Dataset) ConfigRows(split string) map[string][]string {
	out := map[string][]string{}
	for _, r := range d.Rows {
		if r.File != dataPath(split) {
			continue
		}
		for _, name := range configsOf(r.Row, d.Manifest.Card, d.Manifest.Release) {
			out[name] = append(out[name], r.InstanceID)
		}
	}
	return out
}

func (t *tally) configs(r *Release) []string {
	out := slices.Concat(slices.Sorted(maps.Keys(t.windows)), slices.Sorted(maps.Keys(t.kinds)))
	if t.lite > 0 {
		out = append(out, Lite)
	}
	for _, c := range t.sinceConfigs(r) {
		out = append(out, SinceConfig(c.Model))
	}
	return out
}

// configText names the files of a configuration. datasets caches a folder by its name and this header, and not by what
// its files hold, so the header has their digests: else a loader gets the rows of an earlier folder of the same name.
func configText(b *bytes.Buffer, m Manifest, t *tally, name string, file func(split string) string) {
	var digests []string
	for _, s := range m.Splits {
		digests = append(digests, string(t.files[file(s.Name)]))
	}
	first := ""
	if name == "default" {
		first = "  default: true\n"
	}
	fmt.Fprintf(b, "- config_name: %s\n%s  description: %s\n  data_files:\n", name, first, strings.Join(digests, " "))
	for _, s := range m.Splits {
		fmt.Fprintf(b, "  - split: %s\n    path: %s\n", s.Name, file(s.Name))
	}
}

func configsText(b *bytes.Buffer, m Manifest, t *tally) {
	if t.lite > 0 { // Commit0's names: all is every task
		configText(b, m, t, All, parquetPath)
	}
	for _, name := range t.configs(m.Release) {
		configText(b, m, t, name, func(split string) string { return configPath(name, split) })
	}
}

// releaseText says which version this is, and when its tasks landed.
func releaseText(b *bytes.Buffer, m Manifest, t *tally) {
	r := m.Release
	if r == nil {
		return
	}
	fmt.Fprintf(b, "\n<!-- %s -->\n\n## Version %s\n\nSources as they stood before %s.", CanaryText(r.Canary), r.Version, r.Date)
	if r.From != "" {
		fmt.Fprintf(b, " New tasks landed from %s on.", r.From)
	}
	if r.Previous != "" {
		fmt.Fprintf(b, " The version before is %s; `CHANGELOG.md` says what changed.", r.Previous)
	}
	switch {
	case r.Dates == 1:
		fmt.Fprintf(b, " New tasks were proved on one date.")
	case r.Dates > 1:
		fmt.Fprintf(b, " New tasks were proved on %d dates or more (`%s`).", r.Dates, ReproofFile)
	}
	decontaminationText(b, r.Decontamination)
	fmt.Fprintf(b, "\n\nDo not train on it. Each text of this folder but those that a solver is shown holds the canary above,\nand each row that of the version that it came with (`release.canary` in `benchmint`).\n")
	if t.tasks() == 0 {
		return
	}
	fmt.Fprintf(b, "\n| Month of the change | Tasks |\n| --- | ---: |\n")
	for _, month := range slices.Sorted(maps.Keys(t.months)) {
		fmt.Fprintf(b, "| %s | %d |\n", month, t.months[month])
	}
}

// decontaminationText says against which published tasks a version was held.
func decontaminationText(b *bytes.Buffer, d *Decontamination) {
	if d == nil {
		return
	}
	fmt.Fprintf(b, "\n\nIts tasks were held against published ones (`%s`; docs/releases.md says how).\n\n| Set | Rows | SHA-256 |\n| --- | ---: | --- |\n", DecontaminationFile)
	for _, s := range d.Sets {
		fmt.Fprintf(b, "| %s | %d | `%s` |\n", cell(s.Name), s.Rows, s.SHA256)
	}
	if len(d.Hits) == 0 {
		fmt.Fprintf(b, "\nNone stands there.")
		return
	}
	fmt.Fprintf(b, "\n| Key | New tasks left out | Published tasks that stay | Tasks only labelled |\n| --- | ---: | ---: | ---: |\n")
	for _, h := range d.Hits {
		fmt.Fprintf(b, "| `%s` | %d | %d | %d |\n", h.Key, h.Removed, h.Kept, h.Label)
	}
}

// configsLoaded shows how one is opened.
func configsLoaded(b *bytes.Buffer, m Manifest, t *tally) {
	if names := t.configs(m.Release); len(names) > 0 {
		fmt.Fprintf(b, "\n# the tasks of one version, or of one kind\n")
		for _, name := range names {
			fmt.Fprintf(b, "tasks = load_dataset(DIR, %q, split=%q)  # %s\n", name, m.Splits[0].Name, configWords(name, m, t))
		}
	}
}

func configWords(name string, m Manifest, t *tally) string {
	for _, c := range t.sinceConfigs(m.Release) {
		if SinceConfig(c.Model) == name {
			return fmt.Sprintf("%s first public after the training data of %s", count(t.after(c), "task"), plain(c.Model))
		}
	}
	if n, ok := t.windows[name]; ok {
		return fmt.Sprintf("%s that came with %s", count(n, "task"), strings.ReplaceAll(strings.TrimPrefix(name, "w"), "_", "."))
	}
	if name == Lite {
		return fmt.Sprintf("%s with at most %d functions to write", count(t.lite, "library task"), LiteFunctions)
	}
	return fmt.Sprintf("%s of kind %s", count(t.kinds[name], "task"), name)
}
