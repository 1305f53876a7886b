module github.com/benchmint/benchmint

go 1.26
