package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Names of what a version has beside a dataset.
const (
	ChangelogFile = "CHANGELOG.md"
	DiffFile      = "diff.json"
	NoticeFile    = "NOTICE.md"
	CitationFile  = "CITATION.cff"
	CroissantFile = "croissant.json"
	licencesDir   = "LICENSES"
)

var noticeFile = lazyregexp.New(`(?i)^notice([-_.].*)?$`)

// licenceText is a licence or notice at the root of a base tree.
type licenceText struct {
	name string
	data []byte
}

// licences are those of a task's base tree. Each tree is read once.
func (c *Candidate) licences(t *Task) ([]licenceText, error) {
	id := t.Row.Benchmint.Trees.Base
	if texts, ok := c.texts[id]; ok {
		return texts, nil
	}
	base, err := t.carried.From.Base(t.Row)
	if err != nil {
		return nil, err
	}
	texts, licensed := []licenceText{}, false
	for _, e := range base.Entries() {
		switch {
		case strings.Contains(e.Path, "/") && !strings.HasPrefix(strings.ToUpper(e.Path), "LICENSES/"):
		case gitrepo.IsLicenceFile(path.Base(e.Path)), strings.Contains(e.Path, "/"):
			licensed = true
			texts = append(texts, licenceText{e.Path, e.Data})
		case noticeFile.MatchString(e.Path):
			texts = append(texts, licenceText{e.Path, e.Data})
		}
	}
	if !licensed {
		texts = nil
	}
	if c.texts == nil {
		c.texts = map[string][]licenceText{}
	}
	c.texts[id] = texts
	return texts, nil
}

// extra are the files of a version beside the dataset.
func (c *Candidate) extra(m output.Manifest, digests map[string]schemas.Digest) (map[string][]byte, error) {
	out := map[string][]byte{}
	canary := "<!-- " + output.CanaryText(m.Release.Canary) + " -->\n\n"
	if err := c.notice(out, canary); err != nil {
		return nil, err
	}
	out[ChangelogFile] = []byte(canary + c.changelog())
	b, err := output.EncodeRecord(c.Diff)
	if err != nil {
		return nil, err
	}
	out[DiffFile] = b
	out[CitationFile] = c.citation(m)
	if c.veil != nil {
		maps.Copy(out, c.veil.files)
	}
	out[CroissantFile], err = c.croissant(m, digests)
	return out, err
}

// notice writes NOTICE.md and the texts of licences, one file for each text of a repository.
func (c *Candidate) notice(out map[string][]byte, canary string) error {
	type of struct {
		spdx    map[string]bool
		files   map[string]string // path on the shelf → name in the repository
		commits []string
		without int
	}
	repos := map[string]*of{}
	for i := range c.Tasks {
		t := &c.Tasks[i]
		r := repos[t.Row.Repo]
		if r == nil {
			r = &of{map[string]bool{}, map[string]string{}, nil, 0}
			repos[t.Row.Repo] = r
		}
		if l := t.Row.Benchmint.Licence; l != "" {
			r.spdx[l] = true
		}
		r.commits = append(r.commits, t.Row.BaseCommit)
		texts, err := c.licences(t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Row.InstanceID, err)
		}
		if len(texts) == 0 {
			r.without++
		}
		for _, x := range texts {
			name := path.Join(licencesDir, schemas.RepoSlug(t.Row.Repo), schemas.DigestBytes(x.data).Hex()[:12]+"-"+strings.ReplaceAll(x.name, "/", "-"))
			out[name], r.files[name] = x.data, x.name
		}
	}
	var b bytes.Buffer
	b.WriteString("# Notice\n\n" + canary + "The code in base trees and patches belongs to its authors. Its licences, as the base trees hold them:\n")
	for _, repo := range slices.Sorted(maps.Keys(repos)) {
		r := repos[repo]
		fmt.Fprintf(&b, "\n## %s\n\n", repo)
		spdx := strings.Join(slices.Sorted(maps.Keys(r.spdx)), ", ")
		if spdx == "" {
			spdx = "not recognised"
		}
		fmt.Fprintf(&b, "Licence (SPDX): %s.", spdx)
		if url := c.About.Sources[repo]; url != "" {
			fmt.Fprintf(&b, " Source: <%s>", url)
		}
		b.WriteString("\n\n")
		for _, name := range slices.Sorted(maps.Keys(r.files)) {
			fmt.Fprintf(&b, "- [%s](%s)\n", r.files[name], name)
		}
		if r.without > 0 {
			fmt.Fprintf(&b, "- no text in the base trees of %d tasks\n", r.without)
		}
		slices.Sort(r.commits)
		fmt.Fprintf(&b, "\nCommits taken: %s\n", strings.Join(slices.Compact(r.commits), ", "))
	}
	out[NoticeFile] = b.Bytes()
	return nil
}

// sourceLine is a repository with its URL, as notice writes it.
var sourceLine = lazyregexp.New(`(?m)^## (\S+)\n\nLicence \(SPDX\): [^\n]* Source: <([^>\n]+)>$`)

// aboutOf is what a published version says beside the name of the dataset. A purge writes that
// again, whatever the configuration says by then.
func aboutOf(dir string) (a About, err error) {
	b, err := os.ReadFile(filepath.Join(dir, CitationFile))
	if err != nil {
		return a, err
	}
	var cited struct {
		Authors []struct{ Name string }
		URL     string
	}
	if err := yaml.Unmarshal(b, &cited); err != nil {
		return a, fmt.Errorf("%s: %w", CitationFile, err)
	}
	a.URL, a.Sources = cited.URL, map[string]string{}
	for _, x := range cited.Authors {
		a.Authors = append(a.Authors, x.Name)
	}
	if b, err = os.ReadFile(filepath.Join(dir, NoticeFile)); err != nil {
		return a, err
	}
	for _, m := range sourceLine.FindAllStringSubmatch(string(b), -1) {
		a.Sources[m[1]] = m[2]
	}
	return a, nil
}

// citation is a file in the Citation File Format 1.2.
func (c *Candidate) citation(m output.Manifest) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\ncff-version: 1.2.0\nmessage: \"If you use this dataset, please cite it with its version.\"\ntype: dataset\n", output.CanaryText(m.Release.Canary))
	fmt.Fprintf(&b, "title: %s\nversion: %s\ndate-released: %s\nauthors:\n", yamlText(m.Name), yamlText(m.Release.Version), yamlText(m.Release.Date))
	authors := c.About.Authors
	if len(authors) == 0 {
		authors = []string{"The maintainers of " + m.Name}
	}
	for _, a := range authors {
		fmt.Fprintf(&b, "  - name: %s\n", yamlText(a))
	}
	if c.About.URL != "" {
		fmt.Fprintf(&b, "url: %s\n", yamlText(c.About.URL))
	}
	return b.Bytes()
}

// yamlText is a text in quotes: JSON's strings are YAML's, too.
func yamlText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// object is a JSON object.
type object = map[string]any

// croissant describes the files and columns for tools that read Croissant 1.0.
func (c *Candidate) croissant(m output.Manifest, digests map[string]schemas.Digest) ([]byte, error) {
	split := m.Splits[0].Name
	name := path.Join(output.DataDir, split+".parquet")
	var fields []object
	for _, column := range output.Columns() {
		fields = append(fields, object{
			"@type": "cr:Field", "@id": "tasks/" + column, "name": column, "dataType": "sc:Text",
			"source": object{"fileObject": object{"@id": "rows"}, "extract": object{"column": column}},
		})
	}
	v := object{
		"@context": croissantContext, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.0",
		"name": m.Name, "version": semantic(Version(m.Release.Version)), "datePublished": m.Release.Date,
		"description": fmt.Sprintf("%s, version %s: %d coding tasks with tests that decide them.", m.Name, m.Release.Version, m.Counts.Tasks),
		"citeAs":      fmt.Sprintf("%s, version %s (%s)", m.Name, m.Release.Version, m.Release.Date),
		"license":     c.licenceURLs(),
		"distribution": []object{{
			"@type": "cr:FileObject", "@id": "rows", "name": name, "contentUrl": name, "encodingFormat": "application/x-parquet", "sha256": digests[name].Hex(),
		}},
		"recordSet": []object{{"@type": "cr:RecordSet", "@id": "tasks", "name": "tasks", "key": object{"@id": "tasks/instance_id"}, "field": fields}},
	}
	if c.About.URL != "" {
		v["url"] = c.About.URL
	}
	b, err := output.EncodeRecord(v)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// licenceURLs are the licences of the repositories as SPDX names them, and the notice where one is
// not recognised.
func (c *Candidate) licenceURLs() []string {
	out := []string{}
	for _, t := range c.Tasks {
		l := t.Row.Benchmint.Licence
		if l == "" {
			out = append(out, NoticeFile)
			continue
		}
		for _, id := range strings.Fields(strings.NewReplacer("(", " ", ")", " ", " OR ", " ", " AND ", " ").Replace(l)) {
			out = append(out, "https://spdx.org/licenses/"+id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// semantic is a version as three numbers, which Croissant asks for.
func semantic(v Version) string {
	y, m, n := v.parts()
	return fmt.Sprintf("%d.%d.%d", y, m, n)
}

// croissantContext is that of the specification, Croissant 1.0.
var croissantContext = object{
	"@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
	"cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/", "data": object{"@id": "cr:data", "@type": "@json"},
	"dataType": object{"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/", "equivalentProperty": "cr:equivalentProperty", "examples": object{"@id": "cr:examples", "@type": "@json"},
	"extract": "cr:extract", "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet",
	"format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5",
	"parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
	"replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}
