#!/bin/bash
# demo__slug-5: apply the patches named as arguments, build, run the whole suite once.
# It exits with the runner's code; the verdict is read from the report, not from it.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 2
args=()
for p in "$@"; do args+=("$(realpath "$p")"); done
cd /testbed || exit 2
for p in "${args[@]+"${args[@]}"}"; do git apply --whitespace=nowarn "$p" || exit 3; done
env GOCACHE=/opt/env/gocache GOENV=off GOFLAGS=-buildvcs=false GOMODCACHE=/opt/env/gomod GOPROXY=off GOSUMDB=off GOTOOLCHAIN=local PATH=/opt/toolchains/go-1.26.11/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c 'cd "$0" && "$1" test -exec true -vet=off ./... ; exit 0' . /opt/toolchains/go-1.26.11/bin/go || exit 4
mkdir -p /run/benchmint && cp "$here"/run/00-00-packages /run/benchmint/packages || exit 2
env GOCACHE=/opt/env/gocache GOENV=off GOFLAGS=-buildvcs=false GOMAXPROCS=2 GOMODCACHE=/opt/env/gomod GOPROXY=off GOSUMDB=off GOTOOLCHAIN=local PATH=/opt/toolchains/go-1.26.11/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /opt/toolchains/go-1.26.11/bin/go test -json -count=1 -vet=off -p=1 -timeout=10m ./...; rc=$?
exit "${rc:-0}"
