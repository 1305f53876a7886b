package contamination

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Actions are the IDs of the tasks that hits remove, and of the others that they label, sorted.
func Actions(hits []Hit) (removed, labelled []string) {
	removed, labelled = []string{}, []string{}
	for _, h := range hits {
		if h.Action == Removed {
			removed = append(removed, h.InstanceID)
		}
	}
	slices.Sort(removed)
	removed = slices.Compact(removed)
	for _, h := range hits {
		if _, ok := slices.BinarySearch(removed, h.InstanceID); !ok {
			labelled = append(labelled, h.InstanceID)
		}
	}
	slices.Sort(labelled)
	return removed, slices.Compact(labelled)
}

// Encode writes one hit a line.
func Encode(hits []Hit) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, h := range hits {
		if err := enc.Encode(h); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// Decode reads a file that holds what Encode wrote; of a release it begins with its canary.
func Decode(file string) (hits []Hit, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(b) {
		var h Hit
		if err := json.Unmarshal(line, &h); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if h.InstanceID != "" {
			hits = append(hits, h)
		}
	}
	return hits, nil
}
