# Daily commands. Each is one command, which also works without make.

.PHONY: build install test test-all script golden check bench cover ci help

help: ## print these commands
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/'

build: ## the program, as ./git-checkpoint
	CGO_ENABLED=0 go build -tags urfave_cli_no_docs .

install: ## the program on PATH, so that `git checkpoint` runs it
	CGO_ENABLED=0 go install -tags urfave_cli_no_docs .

test: ## the daily tests: about 50 seconds on two cores
	go test -short ./...

test-all: ## everything but campaigns: about ten minutes
	go test -timeout 60m ./...

script: ## one script: make script NAME=save-push
	go test -count=1 -run 'TestScripts/^$(NAME)$$' ./commands

golden: ## rewrite the golden files, to be read in git diff
	go test ./gitstore -run TestStoredForm -update
	go test -tags sha256 ./gitstore -run TestStoredForm -update
	go test ./gitstore/layout -run TestTextsGolden -update
	go test ./commands/internal/view -update
	go test ./commands/internal/config -run TestMarkdown -update

check: ## format, vet and staticcheck, as CI does
	go run mvdan.cc/gofumpt@v0.9.2 -l .
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

bench: ## speed against git: make bench ROWS='^save'
	go run ./testdata/bench -rows '$(or $(ROWS),.)'

cover: ## the files that one command enters: make cover ARGS='save -m note'
	@dir=$$(mktemp -d) && go build -cover -coverpkg=./... -o $$dir/git-checkpoint . && \
		mkdir $$dir/data && GOCOVERDIR=$$dir/data $$dir/git-checkpoint $(or $(ARGS),status) && \
		go tool covdata textfmt -i $$dir/data -o $$dir/text && \
		grep -v ' 0$$' $$dir/text | sed 's/:.*//' | sort -u | grep git-checkpoint/; rm -rf $$dir

ci: ## what CI runs on each submission
	bash .ci/run
