#!/bin/sh
# same.sh OLD NEW PROFILE DIR...
#
# It masks each DIR with two programs and compares what they print and leave: starter and
# manifest. What NEW left is undone and must be DIR again. A line for each DIR says how many
# seconds of processor time each took. It ends with 1 where anything differs.
#
# The environment variable OUT names a folder for the outputs; those of OLD in it are used
# again. It never writes into a DIR.
set -u
old=$(realpath "$1") new=$(realpath "$2") profile=$3
shift 3
out=${OUT:-$(mktemp -d)}
mkdir -p "$out/old" "$out/new"
rc=0

mask() { # PROGRAM FOLDER NAME: masks $dir
	cd "$out/$2" || exit 2
	TIMEFORMAT='%U' bash -c 'time "$@" >"$0.said" 2>&1' "$3" "$1" mask "$dir" --profile "$profile" --output "$3" 2>"$3.seconds"
}

for dir; do
	dir=$(realpath "$dir") name=$(basename "$dir")-$profile
	rm -rf "$out/new/$name" "$out/new/$name".*
	[ -f "$out/old/$name.seconds" ] || mask "$old" old "$name"
	mask "$new" new "$name"
	verdict=same
	for ending in "" .mask.json .said; do
		[ -e "$out/old/$name$ending" ] || [ -e "$out/new/$name$ending" ] || continue
		diff -r "$out/old/$name$ending" "$out/new/$name$ending" >>"$out/new/$name.diff" 2>&1 || verdict=differs
	done
	if [ -d "$out/new/$name" ]; then
		cp -a "$out/new/$name" "$out/new/$name.undone"
		"$new" mask --undo "$out/new/$name.mask.undo" "$out/new/$name.undone" >>"$out/new/$name.diff" 2>&1 &&
			diff -r --no-dereference "$dir" "$out/new/$name.undone" >>"$out/new/$name.diff" 2>&1 || verdict="$verdict, is not undone"
		rm -rf "$out/new/$name.undone"
	fi
	[ "$verdict" = same ] || { verdict="$verdict, see $out/new/$name.diff" rc=1; }
	echo "$name $(cat "$out/old/$name.seconds") $(cat "$out/new/$name.seconds") $verdict"
done
exit $rc
