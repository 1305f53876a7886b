package patch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// file is one of the tree that hunks are placed in.
type file struct {
	*mender
	lines []string // with their line ends
	link  bool     // its content is the target of a symbolic link, which ends without a line end
	end   string   // of new lines, where it is not the patch's own; "" where it is
	mixed bool     // lines of both kinds, of which the patch does not say which
}

// ends settles the line ends of new lines: where a file has one kind of them and the patch the other in
// each of its lines, the patch lost them, or got them, on its way.
func (f *file) ends(x *section) {
	kinds := func(lines func(func(string))) (crlf, lf int) {
		lines(func(l string) {
			if strings.HasSuffix(l, "\r") {
				crlf++
			} else {
				lf++
			}
		})
		return crlf, lf
	}
	crlf, lf := kinds(func(yield func(string)) {
		for _, l := range f.lines {
			if strings.HasSuffix(l, "\n") {
				yield(strings.TrimSuffix(l, "\n"))
			}
		}
	})
	patchCRLF, patchLF := kinds(func(yield func(string)) {
		for _, h := range x.hunks {
			for _, l := range slices.Concat(h.lines, h.more) {
				yield(l.text)
			}
		}
	})
	switch {
	case crlf > 0 && lf == 0 && patchCRLF == 0:
		f.end = "\r\n"
		f.say("line ends: the file has CR LF, the patch LF")
	case lf > 0 && crlf == 0 && patchLF == 0:
		f.end = "\n"
		f.say("line ends: the file has LF, the patch CR LF")
	case crlf > 0 && lf > 0:
		f.mixed = patchCRLF == 0 || patchLF == 0
	}
}

// placed is a hunk with the first of its old lines in the file, from 0.
type placed struct {
	lines []line
	at    int
	old   int
}

// write writes the hunks with the file's own lines.
func (f *file) write(b *bytes.Buffer, x *section) error {
	var all []placed
	for _, h := range x.hunks {
		p, err := f.place(h)
		if err != nil {
			return fmt.Errorf("%w: hunk at line %d: %w", ErrConflict, h.at, err)
		}
		if hasChange(p.lines) {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.at - b.at })
	shift, from := 0, 0
	for _, p := range all {
		if p.at < from {
			return fmt.Errorf("%w: hunks that change the same lines", ErrConflict)
		}
		from = p.at + p.old
		text, made, err := f.hunk(p)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrConflict, err)
		}
		first := func(at, n int) int {
			if n == 0 {
				return at
			}
			return at + 1
		}
		fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n%s", first(p.at, p.old), p.old, first(p.at+shift, made), made, text)
		shift += made - p.old
	}
	return nil
}

// place finds where a hunk belongs. Of a hunk with lines after those that its header counts, these
// belong to it where they fit.
func (f *file) place(h hunk) (placed, error) {
	if len(h.lines) == 0 {
		return placed{}, errors.New("it has no lines")
	}
	if h.more != nil {
		p, err := f.fit(h, slices.Concat(h.lines, h.more))
		if err == nil {
			f.say("a hunk's header that counts its lines wrongly")
		}
		if err == nil || !h.apart {
			return p, err
		}
	}
	p, err := f.fit(h, h.lines)
	if err != nil || !h.counted || h.fits {
		return p, err
	}
	if h.last {
		if err := f.cut(h, p); err != nil {
			return p, err
		}
	}
	f.say("a hunk's header that counts its lines wrongly")
	return p, nil
}

// cut is an error for the last hunk of a text that may not be whole.
func (f *file) cut(h hunk, p placed) error {
	old, made := sides(h.lines)
	missing, more := h.old-old, h.new-made
	if missing <= 0 && more <= 0 {
		return nil
	}
	if missing == more && p.at+old+missing <= len(f.lines) {
		empty := true
		for _, l := range f.lines[p.at+old : p.at+old+missing] {
			empty = empty && strings.TrimSpace(l) == ""
		}
		if empty {
			return nil
		}
	}
	lead, tail := 0, 0
	for lead < len(h.lines) && h.lines[lead].op == ' ' {
		lead++
	}
	for tail < len(h.lines) && h.lines[len(h.lines)-1-tail].op == ' ' {
		tail++
	}
	const usual = 3 // lines of context that diffs have, and the most that a count is wrong by
	switch {
	case old == 0 && len(f.lines) == 0 && more <= usual:
		return nil
	case tail > 0 && (tail >= min(lead, usual) || p.at+old == len(f.lines)):
		return nil
	}
	return fmt.Errorf("it ends %d lines before its header says, and the text with it: it may be cut", max(missing, more))
}

// fit finds the place of lines.
func (f *file) fit(h hunk, lines []line) (placed, error) {
	var old []line
	for _, l := range lines {
		if l.op != '+' {
			old = append(old, l)
		}
	}
	p := placed{lines: lines, old: len(old)}
	if len(old) == 0 {
		if len(f.lines) > 0 {
			return p, errors.New("lines are added without any context")
		}
		return p, nil
	}
	near, exact := f.find(old)
	stated := h.place - 1
	switch {
	case slices.Contains(exact, stated), len(exact) == 0 && slices.Contains(near, stated):
		p.at = stated
	case len(near) == 1:
		p.at = near[0]
		f.say("lines that moved")
	case len(near) == 0:
		return p, errors.New("its old lines are not in the file")
	default:
		return p, fmt.Errorf("its old lines stand at %d places of the file, and none is where its header says", len(near))
	}
	if !slices.Contains(exact, p.at) {
		if f.mixed {
			return p, errors.New("the file has lines with both kinds of line ends, and the patch does not say which its new lines have")
		}
		if f.end == "" {
			f.say("blanks or a line end at the end of lines that the file has otherwise")
		}
	}
	return p, nil
}

// find are the places where lines stand, near ones but for blanks at their ends.
func (f *file) find(old []line) (near, exact []int) {
	for at := 0; at+len(old) <= len(f.lines); at++ {
		alike, same := true, true
		for i, l := range old {
			is := f.lines[at+i]
			same = same && (is == l.text+"\n" && !l.noEnd || is == l.text && at+i == len(f.lines)-1 && l.noEnd)
			if alike = strings.TrimRight(is, " \t\r\n") == strings.TrimRight(l.text, " \t\r\n"); !alike {
				break
			}
		}
		if alike {
			near = append(near, at)
		}
		if alike && same {
			exact = append(exact, at)
		}
	}
	return near, exact
}

// hunk is the text of a hunk with the file's own lines, and how many lines it makes.
func (f *file) hunk(p placed) (text string, made int, err error) {
	var b strings.Builder
	put := func(op byte, l string) {
		b.WriteByte(op)
		b.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
	newSide := 0
	for _, l := range p.lines {
		if l.op != '-' {
			newSide++
		}
	}
	at, reaches := p.at, p.at+p.old == len(f.lines)
	for _, l := range p.lines {
		if l.op == '-' {
			put('-', f.lines[at])
			at++
			continue
		}
		made++
		end := made == newSide && reaches // the last line of the new file
		if l.op == ' ' {
			is := f.lines[at]
			at++
			if strings.HasSuffix(is, "\n") || end {
				put(' ', is)
			} else {
				put('-', is)
				put('+', is+"\n")
			}
			continue
		}
		text := l.text + "\n"
		if f.end != "" {
			text = strings.TrimRight(l.text, "\r") + f.end
		}
		switch {
		case end && (l.noEnd || f.link):
			text = strings.TrimRight(text, "\r\n")
		case l.noEnd:
			return "", 0, errors.New("a line without a line end that is not the file's last one")
		}
		put('+', text)
	}
	return b.String(), made, nil
}
