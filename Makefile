SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GOLANGCI_VERSION := v2.15.0
GOVULN_VERSION   := v1.9.0
FUZZTIME         ?= 10s
BIN              := $(CURDIR)/.bin
GOLANGCI         := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)
PLATFORMS        := linux/amd64 linux/386 darwin/arm64 windows/amd64 windows/arm64 js/wasm

.PHONY: help
help: ## print the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

.PHONY: demo
demo: ## run the main job: a traced server under load, and its first trace
	@echo "building the demo; the first time takes one to three minutes"
	DEMO_TRACING=true go run ./cmd/demo -self-load 1000

.PHONY: smoke
smoke: ## start the built demo, call it with curl, stop it, look at its file
	scripts/setup curl
	go build -o $(BIN)/demo ./cmd/demo
	go run ./scripts/smoke $(BIN)/demo

.PHONY: test
test: ## run the tests
	@echo "building and running the tests; the first time takes five to ten minutes, a package's line comes when it is done"
	go test -shuffle=on ./...
	go test -tags waymark_nootlp -run WithoutOTLP ./bootstrap

.PHONY: short
short: ## run the quick tests
	go test -short ./...

.PHONY: test-race
test-race: ## run the tests under the race detector
	scripts/setup cc
	go test -race -shuffle=on ./...

.PHONY: check
check: fmt-check tidy-check generate-check lint lint-proof build-all test test-race smoke bench-check web-check ## what CI checks

.PHONY: build-all
build-all: ## build and vet with the tests for each platform, also of 32 bits, and without the OTLP exporters
	for p in $(PLATFORMS); do echo "vet $$p"; export GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0; go vet ./...; go build ./...; done
	CGO_ENABLED=0 go build -tags waymark_nootlp ./...

.PHONY: lint
lint: $(GOLANGCI) ## run the linters
	$(GOLANGCI) run ./...

.PHONY: lint-proof
lint-proof: $(GOLANGCI) ## prove that each architecture rule refuses a file that breaks it
	go run ./scripts/lintproof $(GOLANGCI)

.PHONY: fmt
fmt: $(GOLANGCI) ## format the code
	$(GOLANGCI) fmt ./...

.PHONY: fmt-check
fmt-check: $(GOLANGCI) ## fail when code is not formatted
	$(GOLANGCI) fmt --diff ./...

.PHONY: tidy-check
tidy-check: ## fail when go.mod is not tidy
	go mod tidy -diff
	go mod verify

.PHONY: generate
generate: ## run the generators
	go generate ./...

.PHONY: generate-check
generate-check: ## fail when generated files are out of date
	@before=$$(git status --porcelain; git diff | sha256sum); go generate ./...; after=$$(git status --porcelain; git diff | sha256sum); \
	if [ "$$before" != "$$after" ]; then git --no-pager diff --stat; echo "generated files are out of date: run make generate"; exit 1; fi

.PHONY: update
update: ## rewrite the golden files
	UPDATE=1 go test ./...

# Making each new input smaller takes up to a minute by default, which is all of
# the time for a slow target.
.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME, and say in the end which failed
	@failed=(); \
	for pkg in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' $$pkg/*_test.go | sed 's/func //'); do \
	    echo "fuzz $$pkg $$f"; \
	    go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg || failed+=("$$pkg $$f"); \
	  done; \
	done; \
	if [ "$${#failed[@]}" -gt 0 ]; then printf 'fuzz: failed: %s\n' "$${failed[@]}"; exit 1; fi

.PHONY: cover
cover: ## print the coverage of each package
	go test -cover ./...

.PHONY: vuln
vuln: ## look for known vulnerabilities
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULN_VERSION) ./...

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN)

$(GOLANGCI):
	mkdir -p $(BIN)
	GOBIN=$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(BIN)/golangci-lint $@

# End to end. The peers are modules of their own: nothing of theirs reaches a
# user's go.sum.
E2E_NODE   := e2e/node/node_modules/.package-lock.json
E2E_JAEGER := e2e/bin/jaeger

.PHONY: e2e
e2e: $(E2E_NODE) ## run the end-to-end tests: a real Collector, a client in Node.js
	cd e2e && go vet ./...
	cd e2e && go test -count=1 -timeout 20m ./...

.PHONY: e2e-jaeger
e2e-jaeger: $(E2E_JAEGER) ## run the end-to-end tests with a real Jaeger
	cd e2e && go vet -tags jaeger .
	cd e2e && go test -count=1 -timeout 20m -tags jaeger -run Jaeger -v .

.PHONY: e2e-lint
e2e-lint: $(GOLANGCI) ## run the linters on the end-to-end tests
	cd e2e && $(GOLANGCI) run --build-tags jaeger --disable gomoddirectives ./... # the replace is explained in ADR 0080

.PHONY: e2e-clean
e2e-clean: ## remove what the end-to-end tests have installed and built
	rm -rf e2e/bin e2e/node/node_modules

$(E2E_NODE): e2e/node/package-lock.json
	cd e2e/node && npm ci --ignore-scripts
	touch $@

$(E2E_JAEGER): e2e/jaeger/go.mod
	cd e2e/jaeger && go build -o ../bin/jaeger github.com/jaegertracing/jaeger/cmd/jaeger

.PHONY: bench
bench: ## measure Waymark beside its rivals (about ten minutes)
	scripts/setup wrk
	cd benchmarks && go run ./cmd/bench

.PHONY: bench-doc
bench-doc: ## measure, and write docs/benchmarks.md
	scripts/setup wrk
	cd benchmarks && go run ./cmd/bench -doc ../docs/benchmarks.md

.PHONY: bench-check
bench-check: ## fail when a steady goal is missed by more than a quarter
	cd benchmarks && go run ./cmd/bench -check

.PHONY: size
size: ## measure what importing Waymark adds to a program, beside otelhttp (about five minutes)
	cd benchmarks && go run ./cmd/size

.PHONY: bench-lint
bench-lint: $(GOLANGCI) ## run the linters on the benchmarks
	cd benchmarks && $(GOLANGCI) run --disable depguard,gomoddirectives ./... # rivals are what it is for

.PHONY: big
big: ## measure waymark stats on files of 30 and 300 MB (Linux)
	cd benchmarks && go run ./cmd/bigfile

# In a browser: what traces/render writes is opened, and looked at by axe-core.
.PHONY: web-check
web-check: ## open the pages and drawings in a real browser
	traces/render/browsertest/run
