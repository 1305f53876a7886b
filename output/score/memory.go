package score

import "math"

// Memory is how much of the solutions answers have word by word: a sign that a model has seen them (Commit0's Figure 5). Over the
// functions that the solution changes or adds, in answers that apply; of the solution itself it is 1, of nothing done 0.
type Memory struct {
	Functions int     `json:"functions"`
	Overlap   float64 `json:"overlap"` // the mean over functions, 0 to 1
	Full      float64 `json:"full"`    // the share of functions that are the solution's, phrase by phrase
	// ByLength is the same by words of the solution's function. Short ones can be alike by chance.
	ByLength []MemoryPart `json:"by_length"`
}

// MemoryPart is Memory of the functions of one length.
type MemoryPart struct {
	Words     string  `json:"words"`
	Functions int     `json:"functions"`
	Overlap   float64 `json:"overlap"`
	Full      float64 `json:"full"`
}

// The paper sorts functions by length and has no classes; these are ours.
var wordBounds = []bound{{19, "below 20"}, {49, "20-49"}, {99, "50-99"}, {199, "100-199"}, {math.MaxInt, "200 and more"}}

// memoryOf is nil where no answer has a function of its solution.
func memoryOf(all []Answer) *Memory {
	var m Memory
	parts := make([]MemoryPart, len(wordBounds))
	for _, a := range all {
		for _, o := range a.Grade.Overlaps {
			i, _ := within(o.Words, wordBounds)
			full := float64(one(o.Share == 1))
			m.Functions++
			m.Overlap += o.Share
			m.Full += full
			parts[i].Functions++
			parts[i].Overlap += o.Share
			parts[i].Full += full
		}
	}
	if m.Functions == 0 {
		return nil
	}
	m.Overlap, m.Full = mean(m.Overlap, m.Functions), mean(m.Full, m.Functions)
	for i, p := range parts {
		if p.Functions > 0 {
			m.ByLength = append(m.ByLength, MemoryPart{wordBounds[i].name, p.Functions, mean(p.Overlap, p.Functions), mean(p.Full, p.Functions)})
		}
	}
	return &m
}
