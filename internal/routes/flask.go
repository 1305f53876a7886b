package routes

import "github.com/benchmint/benchmint/internal/lang"

// Flask reads Flask, and the packages over it that declare routes.
var Flask = Reader{Framework: "flask", Language: "python", Read: func(t lang.Tree) ([]Route, []string) { return nil, nil }}
