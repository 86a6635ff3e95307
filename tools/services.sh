#!/bin/bash
# Installs what some tests need besides Go, where it is missing (Debian, Ubuntu).
set -euo pipefail
cd "$(dirname "$0")/.."

# The console's packages, its drivers of the browser among them.
packages() {
	local have
	have=$(node --version 2>/dev/null | sed -E 's/^v([0-9]+).*/\1/')
	if [ "${have:-0}" -lt 20 ] || ! command -v npm >/dev/null; then
		echo "services: please install Node 20 or later with npm (https://nodejs.org): the console's tests need it" >&2
		exit 1
	fi
	if ! cmp -s web/ui/package-lock.json web/ui/node_modules/.claimdlq-lock; then
		(cd web/ui && npm ci --no-audit --no-fund && cp package-lock.json node_modules/.claimdlq-lock)
	fi
}

missing=()
command -v strace >/dev/null || missing+=(strace)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v promtool >/dev/null || missing+=(prometheus) # only its promtool is used
command -v systemd-analyze >/dev/null || missing+=(systemd) # only its systemd-analyze is used
browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
browser >/dev/null || missing+=(chromium)
if [ ${#missing[@]} -eq 0 ]; then
	packages
	echo "services: strace, gcc, promtool, systemd-analyze, chromium and the console's packages are there"
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "services: please install: ${missing[*]}" >&2
	exit 1
fi
echo "services: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# Nothing that is installed is started.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod +x $policy
	trap 'rm -f $policy' EXIT
fi
apt-get update -q </dev/null
apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null
packages
