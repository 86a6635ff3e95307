#!/bin/bash
# Runs every fuzz target of the module for the given time each (default 10s).
set -euo pipefail
cd "$(dirname "$0")/.."

for_each=${1:-10s}
found=0
while IFS=: read -r file _ line; do
	name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/' <<<"$line")
	dir=$(dirname "$file")
	echo "fuzz: $dir $name $for_each"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "$for_each" "./$dir"
	found=$((found + 1))
done < <(grep -rnE '^func Fuzz[A-Za-z0-9_]*\(' --include='*_test.go' . | sort)
echo "fuzz: $found targets, no crash"
