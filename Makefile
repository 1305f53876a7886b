# Two commands on a fresh Debian machine with Go: make demo, make test.
# Both install what they need first (.ci/setup says what).
SHELL := /bin/bash
DEMO := _work/demo

.PHONY: help demo test fresh soak setup build lint check clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: ## two small sample repositories, from their histories to a proved dataset
	.ci/setup demo
	.ci/demo $(DEMO)

test: ## every test, with all that they need
	.ci/setup test
	.ci/test </dev/null

fresh: ## both commands on a Debian that has nothing, as a user with sudo; as root, an hour
	.ci/fresh --user make demo
	.ci/fresh --user make test

soak: ## faults of the machine, changes of settings, interruptions and kills at random: two hours
	go test ./pipeline/enginetest -run 'TestChangedSettings|Kill' -soak 20 -timeout 3h
	go test ./internal/store -run Random -rapid.checks 1000 -timeout 3h
	go test ./e2e -run TestChaos -chaos 20 -v -timeout 3h
	go build -o _work/benchmint ./cmd/benchmint && bench/sources/run.sh _work/benchmint 300

setup: ## what the tests and the linter need, and nothing else
	.ci/setup test lint

build: ## ./benchmint
	go build -o benchmint ./cmd/benchmint

lint: ## gofmt, go vet, golangci-lint
	.ci/setup lint
	.ci/run format vet lint

check: ## all that has to hold before a merge
	.ci/run

clean: ## what make demo and make build leave
	rm -rf _work benchmint
