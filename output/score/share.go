package score

import "math"

// Estimate is a rate, and what is known of it.
type Estimate struct {
	Tasks int     `json:"tasks"`
	Rate  float64 `json:"rate"` // 0 where there are no tasks
	// Low and High bound the rate with 95 % confidence; 0 and 1 where nothing is known.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Share is how often something holds: Part of Whole answers, where a task without an answer counts as one. The rate is the mean over
// tasks of the share of their answers: Part of Whole where all tasks have equally many.
type Share struct {
	Part  int `json:"part"`
	Whole int `json:"whole"`
	Estimate
}

// z is that of 95 %.
const z = 1.959963984540054

// ShareOf is part of whole, each of a task of its own, with its Wilson score interval.
func ShareOf(part, whole int) Share {
	s := Share{Part: part, Whole: whole, Estimate: Estimate{Tasks: whole}}
	if whole > 0 {
		s.Rate = float64(part) / float64(whole)
	}
	s.Low, s.High = wilson(s.Rate, float64(whole))
	return s
}

// wilson is the score interval of a rate of n independent observations (Wilson 1927).
func wilson(p, n float64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// clustered is the mean of the rates of tasks, which have some answers in all. The answers of one task depend on each other, so the interval is
// Wilson's with the effective number of answers (Kish 1965): that whose variance is the one between tasks. It lies
// between the number of tasks, where all answers of a task are alike, and that of answers.
func clustered(rates []float64, of int) Estimate {
	e := Estimate{Tasks: len(rates)}
	if len(rates) == 0 {
		e.Low, e.High = wilson(0, 0)
		return e
	}
	n, sum, squares := float64(len(rates)), 0., 0.
	for _, r := range rates {
		sum += r
	}
	e.Rate = sum / n
	for _, r := range rates {
		squares += (r - e.Rate) * (r - e.Rate)
	}
	effective := n
	if variance := e.Rate * (1 - e.Rate); variance > 0 {
		effective = min(max(n, n*n*variance/squares), float64(of)) // squares may be 0
	}
	e.Low, e.High = wilson(e.Rate, effective)
	return e
}
