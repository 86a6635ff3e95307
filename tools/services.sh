#!/bin/bash
# Installs what some tests need besides Go, where it is missing (Debian, Ubuntu).
set -euo pipefail

missing=()
command -v strace >/dev/null || missing+=(strace)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
if [ ${#missing[@]} -eq 0 ]; then
	echo "services: strace and gcc are there"
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "services: please install: ${missing[*]}" >&2
	exit 1
fi
echo "services: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q </dev/null
apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null
