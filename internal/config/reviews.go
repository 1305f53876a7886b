package config

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/schemas"
)

// ReadReviews reads files of what people say of tasks, by instance ID. The reviews of a task are sorted by who. An
// error is a Problems with all that is wrong, or the fault of reading a file.
func ReadReviews(files []string) (map[string][]schemas.PeerReview, error) {
	out := map[string][]schemas.PeerReview{}
	r := reviewReader{first: map[[2]string]string{}}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading reviews: %w", err)
		}
		r.read(file, b, out)
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	for _, all := range out {
		slices.SortFunc(all, func(a, b schemas.PeerReview) int { return strings.Compare(a.Who, b.Who) })
	}
	return out, nil
}

type reviewReader struct {
	where    string               // the row that is read
	first    map[[2]string]string // where an instance was reviewed by somebody
	problems Problems
}

func (r *reviewReader) problem(form string, args ...any) {
	r.problems = append(r.problems, Problem{r.where, fmt.Sprintf(form, args...)})
}

// read reads one file into out.
func (r *reviewReader) read(file string, b []byte, out map[string][]schemas.PeerReview) {
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))))
	in.FieldsPerRecord = -1
	var head []string
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			if head == nil {
				r.problems = append(r.problems, Problem{file + ":1", "is empty; the first line is " + strings.Join(schemas.ReviewColumns, ",")})
			}
			return
		}
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			r.problems = append(r.problems, Problem{fmt.Sprintf("%s:%d", file, broken.Line), "not CSV: " + broken.Err.Error()})
			return
		}
		line, _ := in.FieldPos(0)
		r.where = fmt.Sprintf("%s:%d", file, line)
		switch {
		case head == nil:
			if head = row; !r.columns(row) {
				return
			}
		case len(row) != len(head):
			r.problem("%d fields; the first line has %d", len(row), len(head))
		default:
			of := map[string]string{}
			for i, name := range head {
				of[name] = strings.TrimSpace(row[i])
			}
			id, review := of["instance_id"], r.review(of)
			out[id] = append(out[id], review)
		}
	}
}

// columns reports whether a first line names all columns and no other.
func (r *reviewReader) columns(head []string) bool {
	before := len(r.problems)
	for i, name := range head {
		switch {
		case !slices.Contains(schemas.ReviewColumns, name):
			r.problem("unknown column %q%s", name, hintOr(name, schemas.ReviewColumns))
		case slices.Index(head, name) < i:
			r.problem("column %q stands here twice", name)
		}
	}
	for _, name := range schemas.ReviewColumns {
		if !slices.Contains(head, name) {
			r.problem("column %q is missing", name)
		}
	}
	return len(r.problems) == before
}

// review is one row.
func (r *reviewReader) review(of map[string]string) schemas.PeerReview {
	x := schemas.PeerReview{Verdict: schemas.PeerVerdict(of["verdict"]), Code: schemas.RefusalCode(of["code"]), Who: of["who"], Date: of["date"], Note: of["note"]}
	if _, err := schemas.ParseInstanceID(of["instance_id"]); err != nil {
		r.problem("instance_id: %q is not an instance ID (owner__name-12)", of["instance_id"])
	}
	r.word("verdict", of["verdict"], peerVerdicts())
	switch codes := refusalCodes(); {
	case x.Verdict == schemas.PeerRefuse:
		r.word("code", of["code"], codes)
	case x.Verdict == schemas.PeerAccept && x.Code != "":
		r.problem("code: %q goes with refuse; that of accept is empty", x.Code)
	}
	switch {
	case x.Who == "":
		r.problem("who: is empty")
	case strings.ContainsAny(x.Who, "\n@"):
		r.problem("who: %q stands in the dataset; write a name or a handle, without an address", x.Who)
	}
	if _, err := time.Parse(time.DateOnly, x.Date); err != nil {
		r.problem("date: %q is not a date (YYYY-MM-DD)", x.Date)
	}
	key := [2]string{of["instance_id"], x.Who}
	if other, twice := r.first[key]; twice {
		r.problem("%s reviews %s in %s, too", x.Who, key[0], other)
	}
	r.first[key] = r.where
	return x
}

// word holds a value to a closed set.
func (r *reviewReader) word(key, word string, known []string) {
	if !slices.Contains(known, word) {
		r.problem("%s: %q is not one of %s%s", key, word, strings.Join(known, ", "), nearest.Hint(word, known))
	}
}

func peerVerdicts() (words []string) {
	for _, v := range schemas.PeerVerdicts {
		words = append(words, string(v))
	}
	return words
}

func refusalCodes() (words []string) {
	for _, x := range schemas.Refusals {
		words = append(words, string(x.Code))
	}
	return words
}
