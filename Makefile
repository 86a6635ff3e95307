# The commands of this project; `make help` lists them.

GO      ?= go
LINT    := $(GO) tool -modfile=tools/go.mod golangci-lint
FUZZ    ?= 10s
BENCH   ?= .
KILLS   ?= 500

.PHONY: help
help: ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

.PHONY: demo
demo: ## tell the story of claims that fail and are replayed, then keep the console up
	$(GO) run ./cmd/claimdlq demo

.PHONY: test
test: ## run every test
	$(GO) test -timeout 20m ./...

.PHONY: build
build: ## build bin/claimdlq
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/claimdlq ./cmd/claimdlq

.PHONY: console
console: ## build the web console into web/dist, which is committed; needs Node 20 and npm
	cd web/ui && npm ci --no-audit --no-fund && npm run types && npm run build

.PHONY: screenshots
screenshots: build ## make the pictures of the console in docs/images anew
	cd web/ui && node e2e/shots.mjs

.PHONY: firstpage
firstpage: build ## print how long the console takes to its first page
	cd web/ui && node e2e/first.mjs

.PHONY: lint
lint: ## formatting, vet, modules, generated files, linters
	tools/lint.sh

.PHONY: race
race: ## run the tests under the race detector, in random order
	$(GO) test -race -short -shuffle=on -timeout 20m ./...

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZ (10s)
	tools/fuzz.sh $(FUZZ)

.PHONY: crash
crash: ## kill the program at KILLS (500) points and check what is left
	CLAIMDLQ_CRASH_POINTS=$(KILLS) $(GO) test -count=1 -timeout 45m -v -run '^TestCrash' ./internal/e2e

.PHONY: bench
bench: ## run the Go benchmarks that match BENCH (.)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: services
services: ## install what some tests need besides Go: strace, promtool, gcc for the race detector, Chromium
	tools/services.sh
