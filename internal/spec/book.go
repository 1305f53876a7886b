package spec

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Bounds on what is read and written. What is over one is counted in Left.
const (
	maxDocument = 1 << 20   // bytes of one file
	maxText     = 8 << 20   // bytes of Markdown of all documents together
	maxPages    = 500       // documents
	maxPicture  = 2 << 20   // bytes of one picture
	maxPictures = 20 << 20  // bytes of all pictures
	maxLine     = 20_000    // bytes; documents with a longer one are data
	maxLabels   = 100_000   // of all documents
	maxReads    = 256 << 20 // bytes that are read of files, again and again where they are included again
)

// Why something of the documentation is not in the text.
const (
	leftProject  = "about the project"        // changes, licence, how to contribute
	leftLarge    = "too large"                // over a bound
	leftUnread   = "not UTF-8"                // nor are control characters text
	leftLink     = "symbolic link"            // which is never followed
	leftMany     = "too many documents"       // more than maxPages
	leftLanguage = "translation"              // of the documentation
	leftPicture  = "picture"                  // of another host, of another form, or too large
	leftMissing  = "missing"                  // included or named, and not there
	leftNames    = "name without a place"     // an object that the documentation wants described
	leftLeak     = "document with solution"   // more than code blocks of it hold lines of bodies
	leftDirs     = "part of no documentation" // themes, templates, what was built
)

// book is what the documents of one specification share.
type book struct {
	tree      *tree.Tree
	name      string // of the library
	version   string
	root      string          // folder of the documentation, "" for the top
	included  map[string]bool // files that stand in others
	labels    map[string]string
	api       *api
	highlight string // language of code that names none
	pictures  map[string]Picture
	size      int // of the pictures
	written   int
	reads     int
	left      map[string]int
	// public counts exported functions, methods and types of Go, and documented those with a doc comment.
	public, documented int
}

// used counts what was written; it reports whether there is room for more.
func (b *book) used(n int) bool {
	b.written += n
	return b.room()
}

func (b *book) room() bool { return b.written < maxText && b.reads < maxReads }

// file are the lines of a file of the tree, without what no text has. False where there is
// none that can be read.
func (b *book) file(name string) ([]string, bool) {
	e, ok := b.tree.Entry(name)
	switch {
	case !ok || e.Mode == tree.ModeModule:
		return nil, false
	case e.Mode == tree.ModeSymlink:
		b.left[leftLink]++
		return nil, false
	case len(e.Data) > maxDocument:
		b.left[leftLarge]++
		return nil, false
	}
	b.reads += len(e.Data)
	data := bytes.TrimPrefix(e.Data, []byte("\xEF\xBB\xBF"))
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		b.left[leftUnread]++
		return nil, false
	}
	lines := linesOf(string(data))
	for _, l := range lines {
		if len(l) > maxLine {
			b.left[leftLarge]++
			return nil, false
		}
	}
	return lines, true
}

// linesOf are the lines of a text: no control characters, tabs as blanks, nothing after the
// last letter.
func linesOf(s string) []string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.IndexFunc(l, control) >= 0 {
			l = strings.Map(func(r rune) rune {
				if control(r) && r != '\t' {
					return -1
				}
				return r
			}, l)
			lines[i] = tabs(l)
		}
		lines[i] = strings.TrimRight(lines[i], " \u00a0")
	}
	return lines
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// tabs writes blanks for tabs, to columns of eight.
func tabs(l string) string {
	if !strings.Contains(l, "\t") {
		return l
	}
	var b strings.Builder
	at := 0
	for _, r := range l {
		if r != '\t' {
			b.WriteRune(r)
			at++
			continue
		}
		n := 8 - at%8
		b.WriteString(strings.Repeat(" ", n))
		at += n
	}
	return b.String()
}

// missed is what stands for something that is not there.
func (b *book) missed(what, name string) string {
	b.left[leftMissing]++
	return "*[" + what + ": " + escape(strings.TrimSpace(name)) + " is not here]*"
}

// picture is the Markdown of a picture, which is kept beside the text. Of one that cannot be
// kept the words that stand for it are there.
func (b *book) picture(alt, name, as string) string {
	alt = escape(strings.Join(strings.Fields(alt), " "))
	if strings.Contains(as, "://") || strings.HasPrefix(as, "//") || strings.HasPrefix(as, "data:") {
		b.left[leftPicture]++
		return ""
	}
	name, _, _ = strings.Cut(name, "#")
	e, ok := b.tree.Entry(name)
	if !ok && b.root != "" {
		e, ok = b.tree.Entry(path.Join(b.root, as))
	}
	if !ok || e.Mode == tree.ModeModule || e.Mode == tree.ModeSymlink {
		b.left[leftPicture]++
		return alt
	}
	file := b.keptPicture(e.Data)
	if file == "" {
		b.left[leftPicture]++
		return alt
	}
	return "![" + alt + "](" + file + ")"
}

// keptPicture keeps a picture beside the text, and gives its name there; "" for what is none
// or too large.
func (b *book) keptPicture(data []byte) string {
	form := formOf(data)
	file := PicturesDir + "/" + schemas.DigestBytes(data).Short() + form
	if _, known := b.pictures[file]; !known {
		if form == "" || len(data) > maxPicture || b.size+len(data) > maxPictures {
			return ""
		}
		b.size += len(data)
		b.pictures[file] = Picture{Name: file, Data: data}
	}
	return file
}

// formOf is the extension of a picture, "" for what is none.
func formOf(data []byte) string {
	head := data[:min(len(data), 1024)]
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return ".png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return ".jpg"
	case bytes.HasPrefix(head, []byte("GIF8")):
		return ".gif"
	case bytes.HasPrefix(head, []byte("RIFF")) && len(head) > 12 && string(head[8:12]) == "WEBP":
		return ".webp"
	case bytes.Contains(head, []byte("<svg")) && utf8.Valid(data):
		return ".svg"
	}
	return ""
}
