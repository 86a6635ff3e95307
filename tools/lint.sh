#!/bin/bash
# Formatting, vet, modules, generated files and linters. Prints what is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "lint: $*"; }

say gofmt
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
	echo "not formatted:" >&2
	echo "$unformatted" >&2
	exit 1
fi

say go vet
go vet ./...

say go mod tidy
go mod tidy -diff

say generated files
go generate ./...
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	generated=$(grep -rlE '^// Code generated .* DO NOT EDIT\.$' --include='*.go' . || true)
	if [ -n "$generated" ]; then
		# shellcheck disable=SC2086 # one word per file
		git diff --exit-code -- $generated docs/openapi.json
	fi
fi

say golangci-lint
go tool -modfile=tools/go.mod golangci-lint run ./...
