# observe.sh OUT [WORDS...]: starts the test program of each package, without a test, and writes what go test printed to
# OUT, then a line of one zero byte, then the module's path, then which blocks were covered.
out=$1 list=$1.list profile=$1.cover
shift
start() { go test $json "$@" -vet=off -count=1 -timeout 120s -run '^$' </dev/null; }
rm -f "$profile"
go list "$@" -e -export -f '{{if .Export}}{{.ImportPath}}{{else if or .GoFiles .CgoFiles}}-{{else if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... </dev/null >"$list" 2>/dev/null
if grep -qx -e - "$list"; then
	# Coverage of a package that does not compile, or beside one, keeps all programs from being built.
	start "$@" ./... >"$out" 2>&1
	sound=$(grep -vx -e - "$list")
	# An argument holds 128 kB.
	echo "$sound" | xargs -s 100000 | tr ' ' , | while IFS= read -r covered; do
		start "$@" -coverpkg="$covered" -coverprofile="$profile.part" $sound >/dev/null 2>&1
		[ ! -s "$profile.part" ] || cat "$profile.part" >>"$profile"
	done
else
	start "$@" -coverpkg=./... -coverprofile="$profile" ./... >"$out" 2>&1
fi
printf '\n\000\n' >>"$out"
go list -m </dev/null >>"$out" 2>/dev/null || echo >>"$out"
[ ! -s "$profile" ] || grep -v -e ' 0$' -e '^mode:' "$profile" >>"$out"
exit 0
