package routes

import "github.com/benchmint/benchmint/internal/lang"

// FastAPI reads FastAPI.
var FastAPI = Reader{Framework: "fastapi", Language: "python", Read: func(t lang.Tree) ([]Route, []string) { return nil, nil }}
