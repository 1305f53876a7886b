# reach.sh LIST OUT COVERED [WORDS...]: runs each test of LIST (folder, package and name, by tabs) alone
# in a test program that is built with WORDS and covers the packages COVERED, and writes what each covers
# to OUT; of the first of each program also what it does not cover: that names all there is. A program
# without any of these packages runs one test.
list=$1 out=$2 covered=$3
shift 3
: >"$out"
built=/ root=$PWD
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
		cd "$root" || exit
		# One of the packages may be for tests alone, or for another system.
		go test -c "$@" -vet=off "-coverpkg=$covered" -o "$program" "./$dir" </dev/null ||
			go test -c "$@" -vet=off -coverpkg=./... -o "$program" "./$dir" </dev/null
		cd "./$dir" || exit
	fi
	[ -x "$program" ] || continue
	: >"$profile"
	"$program" -test.run "^$name\$" -test.timeout 60s -test.coverprofile "$profile" </dev/null >/dev/null 2>&1
	[ -s "$profile" ] || continue
	printf '=%s::%s\n' "$pkg" "$name" >>"$out"
	if [ "$whole" ]; then
		grep -v '^mode:' "$profile" >>"$out" || rm -f "$program"
		whole=
	else
		grep -v -e ' 0$' -e '^mode:' "$profile" >>"$out"
	fi
done <"$list"
exit 0
