// Package wholebody reads the answers of services to their end, up to a bound.
//
// It never gives a part of an answer: what is cut or too large is an error.
package wholebody

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Read reads and closes the body of an answer of at most so many bytes, and puts the same
// bytes in its place.
func Read(resp *http.Response, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("the answer is larger than %d bytes", most)
	}
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return b, nil
}
