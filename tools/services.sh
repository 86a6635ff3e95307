#!/bin/bash
# Installs what some tests need besides Go, where it is missing (Debian, Ubuntu).
set -euo pipefail

missing=()
command -v strace >/dev/null || missing+=(strace)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v promtool >/dev/null || missing+=(prometheus) # only its promtool is used
if [ ${#missing[@]} -eq 0 ]; then
	echo "services: strace, gcc and promtool are there"
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
