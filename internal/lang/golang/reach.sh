# reach.sh LIST OUT [WORDS...]: runs each test of LIST (folder, package and name, by tabs) alone in a
# test program that is built with WORDS and covers its module, and writes what each covers to OUT;
# of the first of each program also what it does not cover: that names all there is.
list=$1 out=$2
shift 2
: >"$out"
built=/
program=/tmp/.benchmint-reach.test
profile=/tmp/.benchmint-reach.cover
tab=$(printf '\t')
# Fields may be empty, and a tab as IFS would join them.
while IFS= read -r line; do
	dir=${line%%"$tab"*}
	line=${line#*"$tab"}
	pkg=${line%%"$tab"*} name=${line#*"$tab"}
	if [ "$dir" != "$built" ]; then
		built=$dir whole=yes
		rm -f "$program"
		go test -c "$@" -vet=off -coverpkg=./... -o "$program" "./$dir" </dev/null
	fi
	[ -x "$program" ] || continue
	rm -f "$profile"
	(cd "./$dir" && "$program" -test.run "^$name\$" -test.timeout 60s -test.coverprofile "$profile") </dev/null >/dev/null 2>&1
	[ -f "$profile" ] || continue
	printf '=%s::%s\n' "$pkg" "$name" >>"$out"
	if [ "$whole" ]; then
		grep -v '^mode:' "$profile" >>"$out"
		whole=
	else
		grep -v -e ' 0$' -e '^mode:' "$profile" >>"$out"
	fi
done <"$list"
exit 0
