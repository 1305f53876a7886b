package main

import (
	"fmt"

	"github.com/benchmint/benchmint/bench/internal/table"
)

// percent is a share as the paper prints it.
func percent(share float64) string { return fmt.Sprintf("%.2f", 100*share) }

// dollars are as the paper prints them; a dash for none.
func dollars(cost float64) string {
	if cost == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", cost)
}

func head(out *table.Table) {
	out.Row("library", "stage", "questions", "not usable", "tokens in", "cached", "tokens out", "$", "tests", "pass rate %", "score %")
}

// list has a row for each stage of a library.
func list(out *table.Table, id string, stages []stage) {
	for _, g := range stages {
		out.Row(id, g.stage, fmt.Sprint(g.questions), fmt.Sprint(g.unusable), fmt.Sprint(g.Input), fmt.Sprint(g.Cached), fmt.Sprint(g.Output), dollars(g.dollars),
			fmt.Sprintf("%d of %d", g.passed, g.wanted), percent(g.rate), percent(g.score))
	}
}

// table1 is the model's row of Commit0's Table 1: after each stage the mean of the libraries' pass
// rates, and the dollars that the stage took for all of them. Each library has the same stages,
// the first of which is "nothing".
func table1(out *table.Table, model string, libraries [][]stage) {
	title, row := []string{"model"}, []string{model}
	for i := range libraries[0][1:] {
		rate, cost := 0.0, 0.0
		for _, stages := range libraries {
			rate += stages[i+1].rate / float64(len(libraries))
			cost += stages[i+1].dollars
		}
		title = append(title, fmt.Sprintf("stage %d: pass rate %%", i+1), fmt.Sprintf("stage %d: $", i+1))
		row = append(row, percent(rate), dollars(cost))
	}
	out.Row()
	out.Row(title...)
	out.Row(row...)
}
