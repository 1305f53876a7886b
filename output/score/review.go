package score

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/schemas"
)

// Review is what a person says of an answer that is not resolved. That the intent was misunderstood no rule can see.
type Review struct {
	Misunderstood bool   `json:"misunderstood,omitempty"`
	Note          string `json:"note,omitempty"`
}

// Reviews are those of answers, by the ID of the prediction.
type Reviews map[string]Review

// ReviewFile lists the predictions that are not resolved, for a person to fill in misunderstood (yes) and note. What is
// there is kept when the file is written anew.
const ReviewFile = "review.csv"

var reviewColumns = []string{"id", "verdict", "cause", "class", "misunderstood", "note"}

// ReadReviews reads the file of an evaluation's folder; none where it is not there. An error names file and line.
func ReadReviews(dir string) (Reviews, error) {
	name := filepath.Join(dir, ReviewFile)
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	at := map[string]int{}
	for _, column := range []string{"id", "misunderstood", "note"} {
		if at[column] = slices.Index(head, column); at[column] < 0 {
			return nil, fmt.Errorf("%s:1: column %q is missing", name, column)
		}
	}
	out, seen := Reviews{}, map[string]bool{}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err) // it names the line
		}
		line, _ := in.FieldPos(0)
		r := Review{Note: strings.TrimSpace(row[at["note"]])}
		switch word := strings.ToLower(strings.TrimSpace(row[at["misunderstood"]])); word {
		case "", "no":
		case "yes":
			r.Misunderstood = true
		default:
			return nil, fmt.Errorf("%s:%d: misunderstood is %q, not yes or no%s", name, line, word, nearest.Hint(word, []string{"yes", "no"}))
		}
		id := row[at["id"]]
		if seen[id] {
			return nil, fmt.Errorf("%s:%d: %s is given more than once", name, line, id)
		}
		if seen[id] = true; r != (Review{}) {
			out[id] = r
		}
	}
}

// review is the file for people: the predictions that are not resolved, with what was said of them before, and those of which something was
// said, though they are no longer among them.
func (e Evaluation) review() ([]byte, error) {
	rows, listed := [][]string{reviewColumns}, map[string]bool{}
	add := func(id string, verdict schemas.Verdict, cause Cause, class schemas.ErrorClass) {
		r := e.Reviews[id]
		word := ""
		if r.Misunderstood {
			word = "yes"
		}
		listed[id] = true
		rows = append(rows, []string{id, string(verdict), string(cause), string(class), word, r.Note})
	}
	for _, a := range e.Answers {
		if !resolved(a) {
			add(a.Grade.ID(), a.Grade.Verdict, CauseOf(a.Grade), a.Grade.Class)
		}
	}
	for _, id := range sortedKeys(e.Reviews) {
		if !listed[id] {
			add(id, "", "", "")
		}
	}
	slices.SortFunc(rows[1:], slices.Compare[[]string])
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
