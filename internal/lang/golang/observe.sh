# observe.sh OUT [WORDS...]: starts the test program of each package, without a test, and writes what go test printed to
# OUT, then a line of one zero byte, then which blocks were covered.
out=$1 profile=/tmp/.benchmint-observe.cover
shift
rm -f "$profile"
go test "$@" -vet=off -count=1 -timeout 120s -run '^$' -coverpkg=./... -coverprofile="$profile" ./... </dev/null >"$out" 2>&1
printf '\n\000\n' >>"$out"
[ ! -s "$profile" ] || grep -v -e ' 0$' -e '^mode:' "$profile" >>"$out"
exit 0
