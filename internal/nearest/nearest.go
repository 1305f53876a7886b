// Package nearest finds the word that a person probably meant.
//
// It never corrects anything by itself: callers print what it says.
package nearest

// Word is the entry of known that is closest to w, and whether it is close
// enough to be worth a "did you mean": at most a third of the letters, and never
// more than three, may differ. The first of equals wins.
func Word(w string, known []string) (string, bool) {
	best, least := "", min(3, max(1, len(w)/3))+1
	for _, k := range known {
		if d := distance(w, k); d < least {
			best, least = k, d
		}
	}
	return best, best != ""
}

// Hint is Word as the end of a message, "" where nothing is close.
func Hint(w string, known []string) string {
	k, ok := Word(w, known)
	if !ok || k == w {
		return ""
	}
	return "; did you mean " + k + "?"
}

// distance is Levenshtein's with two swapped letters as one fault, the commonest
// of typing; over bytes, because keys, verbs and IDs are ASCII.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
