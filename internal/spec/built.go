package spec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/benchmint/benchmint/internal/tree"
)

// maxPage bounds the HTML of one page that a tool has built, in bytes.
const maxPage = 8 << 20

// Pages is documentation as its own tool has built it. What it says may come from code of
// the project, and is no more to be believed than any text.
type Pages struct {
	Tool  string // and its version
	Pages []Page // in the order of the tables of contents
	Files map[string][]byte
	Lost  []string // extensions that were not there
}

// Page is one of them.
type Page struct {
	Name     string   `json:"name"` // its path, with slashes and without an extension
	Title    string   `json:"title"`
	HTML     string   `json:"html"`     // of the text alone
	Includes []string `json:"includes"` // files of the tree that it is made of, beside its own
}

// ReadPages reads what the run of a lang.Documentation leaves. An error is about what was
// written, and never about the machine.
func ReadPages(data []byte) (Pages, error) {
	var said struct {
		Tool  string            `json:"tool"`
		Pages []Page            `json:"pages"`
		Files map[string]string `json:"files"`
		Lost  []string          `json:"lost"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return Pages{}, fmt.Errorf("reading the pages: %w", err)
	}
	out := Pages{Tool: strings.Join(strings.Fields(said.Tool), " "), Files: map[string][]byte{}}
	for _, p := range said.Pages {
		if p.Name != "" && path.Clean("/"+p.Name) == "/"+p.Name {
			out.Pages = append(out.Pages, p)
		}
	}
	if len(out.Pages) == 0 || out.Tool == "" || len(out.Tool) > 100 {
		return Pages{}, fmt.Errorf("the build of %.100q leaves no pages", out.Tool)
	}
	for name, text := range said.Files {
		if b, err := base64.StdEncoding.DecodeString(text); err == nil {
			out.Files[name] = b
		}
	}
	out.Lost = said.Lost
	return out, nil
}

// leftExtension is why something of built documentation is not in the text.
const leftExtension = "extension that is not there"

// built makes the documents of pages that a tool has built. The readme is the first where
// no page includes it.
func (b *book) built(pages Pages) (docs []document, source string) {
	known := map[string]bool{}
	for _, p := range pages.Pages {
		known[p.Name] = true
		for _, name := range p.Includes {
			b.included[name] = true
		}
	}
	if n := len(pages.Lost); n > 0 {
		b.left[leftExtension] += n
	}
	for _, p := range pages.Pages {
		why := asidePage(p.Name)
		switch {
		case why != "": // nothing more is asked
		case len(p.HTML) > maxPage:
			why = leftLarge
		case len(docs) >= maxPages || !b.room():
			why = leftMany
		}
		if why != "" {
			b.left[why]++
			continue
		}
		d, err := b.rendered(p, pages, known)
		if err != nil {
			b.left[leftUnread]++
			continue
		}
		if len(d.blocks) > 1 || len(d.blocks) == 1 && !strings.HasPrefix(d.blocks[0], heading) {
			docs = append(docs, d)
		}
	}
	return b.withReadme(docs, true)
}

// held reports whether documents have most of the text of another, whatever its markup.
func held(d document, docs []document) bool {
	const most = 0.8 // of its letters
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, linkless(s))
	}
	var all strings.Builder
	for _, other := range docs {
		all.WriteString(letters(strings.Join(other.blocks, "\n")))
	}
	there, total := 0, 0
	for _, block := range d.blocks {
		for part := range strings.SplitSeq(block, "\n\n") {
			if strings.HasPrefix(part, heading) {
				part = part[len(heading)+1:] // its level may be another
			}
			text := letters(part)
			if total += len(text); strings.Contains(all.String(), text) {
				there += len(text)
			}
		}
	}
	return total > 0 && float64(there) >= most*float64(total)
}

// asidePage is why a page is left out, "" for one that is not. What extensions write lies
// in folders of any name.
func asidePage(name string) string {
	for _, dir := range strings.Split(path.Dir(name), "/") {
		if !strings.HasPrefix(dir, "_") && dir != "." && asides.MatchString(dir) {
			return leftDirs
		}
	}
	if project.MatchString(path.Base(name)) {
		return leftProject
	}
	return ""
}

// kept is the name of a picture that a page shows, kept beside the text; "" where none can
// be kept.
func (b *book) kept(pages Pages, page, src string) string {
	src, _, _ = strings.Cut(src, "#")
	name := strings.TrimPrefix(path.Join("/", path.Dir(page), src), "/")
	data, ok := pages.Files[name]
	if !ok {
		e, there := b.tree.Entry(path.Join(b.root, name))
		if data, ok = e.Data, there && e.Mode != tree.ModeModule && e.Mode != tree.ModeSymlink; !ok {
			return ""
		}
	}
	return b.keptPicture(data)
}
