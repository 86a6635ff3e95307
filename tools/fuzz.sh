#!/bin/bash
# Runs every fuzz target of the module for the given time each (default 10s).
set -euo pipefail
cd "$(dirname "$0")/.."

for_each=${1:-10s}
found=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

while IFS=: read -r file _ line; do
	name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/' <<<"$line")
	dir=$(dirname "$file")
	echo "fuzz: $dir $name $for_each"
	if ! go test -run '^$' -fuzz "^$name\$" -fuzztime "$for_each" "./$dir" 2>&1 | tee "$out"; then
		# A worker that is at work when the time ends is sometimes reported as a failure
		#; a real one leaves its input behind.
		if grep -q 'Failing input written' "$out" || ! grep -q 'context deadline exceeded' "$out"; then
			exit 1
		fi
		echo "fuzz: the time ended in the middle of an input; no crash"
	fi
	found=$((found + 1))
done < <(grep -rnE '^func Fuzz[A-Za-z0-9_]*\(' --include='*_test.go' . | sort)
echo "fuzz: $found targets, no crash"
