# `make check` is what a change must pass; .ci/run adds the lab and the tests
# that take longer.

GO ?= go

.PHONY: build check static fmt vet lint tidy test test-all clean-tree

build:
	$(GO) build -o abacus .

check: static test clean-tree

static: fmt vet lint tidy

# Files that are not formatted are named; nothing is changed.
fmt:
	@files="$$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 -r gofmt -l)"; \
	if [ -n "$$files" ]; then echo "gofmt -w is due on:"; echo "$$files"; exit 1; fi

# Linux-only code has a counterpart that the other systems compile.
vet:
	$(GO) vet ./...
	$(GO) vet .ci/skipped/main.go
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

lint:
	$(GO) tool staticcheck ./...

tidy:
	$(GO) mod tidy -diff
	$(GO) mod verify

test:
	$(GO) test -race -short -timeout 15m ./...

test-all:
	$(GO) test -timeout 30m ./...

# Tests, generators and tidy leave nothing behind, and nothing is forgotten.
clean-tree:
	@status="$$(git status --porcelain)"; \
	if [ -n "$$status" ]; then echo "the tree is not clean:"; echo "$$status"; exit 1; fi
