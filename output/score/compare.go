package score

import "math"

// Comparison is two models over the same tasks. Positive figures are for the first.
type Comparison struct {
	Model string `json:"model"`
	With  string `json:"with"`
	// Tasks counts those that are compared: where a model has predictions of which none could be graded, a task is left out.
	Tasks int `json:"tasks"`
	// Ahead and Behind count the tasks of which the model resolves the greater, and the smaller, share of its samples.
	Ahead  int `json:"ahead"`
	Behind int `json:"behind"`
	// Difference is that of the resolved rates, Low and High its interval of 95 %: that of paired shares by Agresti and Min (2005), which
	// adds two pairs, here of the differences of tasks.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// P is the chance of a split of the tasks that differ at least as uneven, if the models were equal: the exact sign
	// test (McNemar's, of one sample a task), two-sided.
	P float64 `json:"p"`
}

// compare holds one model against another over tasks.
func compare(tasks []Task, a, b []Answer) Comparison {
	var c Comparison
	sum, squares := 0., 1. // of one pair for each model: +1 and -1, half a pair each
	one, other := group(tasks, a), group(tasks, b)
	for _, t := range tasks {
		d := one.rate(t) - other.rate(t)
		switch {
		case d > 0:
			c.Ahead++
		case d < 0:
			c.Behind++
		}
		sum, squares = sum+d, squares+d*d
	}
	c.Tasks = len(tasks)
	n := float64(len(tasks))
	if n > 0 {
		c.Difference = sum / n
	}
	middle := sum / (n + 2)
	half := z * math.Sqrt(max(0, squares/(n+2)-middle*middle)/(n+2))
	c.Low, c.High, c.P = max(-1, middle-half), min(1, middle+half), signTest(c.Ahead, c.Behind)
	return c
}

// rate is the share of a task's answers that resolve it.
func (g answers) rate(t Task) float64 {
	n := 0
	for _, a := range g.of[t.Instance] {
		n += one(resolved(a))
	}
	return mean(float64(n), len(g.of[t.Instance]))
}

// signTest is the two-sided chance of a split of n even chances at least as uneven as a to b.
func signTest(a, b int) float64 {
	n, p := a+b, 0.
	for k := 0; k <= min(a, b); k++ {
		p += math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
	}
	return min(1, 2*p)
}

func logChoose(n, k int) float64 {
	of := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return of(n) - of(k) - of(n-k)
}
