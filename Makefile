# Two commands on a fresh Debian machine with Go: make demo, make test.
# Both install what they need first (.ci/setup says what).
SHELL := /bin/bash
DEMO := _work/demo

.PHONY: help demo test install fresh soak clients setup build lint check clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: ## two small sample repositories, from their histories to a proved dataset
	.ci/setup demo
	.ci/demo $(DEMO)

test: ## every test but those of make soak, with all that they need: 15 minutes
	.ci/setup test
	.ci/test </dev/null

install: ## benchmint into PATH: /usr/local/bin for root, else ~/.local/bin; PREFIX=FOLDER elsewhere
	.ci/setup install
	.ci/install $(PREFIX)

fresh: ## both commands on a Debian that has nothing, as a user with sudo; as root, an hour
	.ci/fresh --user make demo
	.ci/fresh --user make test

soak: ## what make test leaves out (.ci/test has the list), more random tests, and each fuzz test: hours
	.ci/setup test
	.ci/test soak </dev/null

clients: ## SWE-bench, Harbor, Inspect and mini-swe-agent themselves, in Docker: 30 minutes
	.ci/setup test
	.ci/clients

setup: ## what the tests and the linter need, and nothing else
	.ci/setup test lint

build: ## ./benchmint
	go build -o benchmint ./cmd/benchmint

lint: ## golangci-lint, with gofmt and go vet; go.mod; licences
	.ci/setup lint
	.ci/run tidy lint licences

check: ## all that has to hold before a merge
	.ci/run

clean: ## what make demo and make build leave
	rm -rf _work benchmint
