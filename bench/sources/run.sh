#!/bin/bash
# run.sh PROGRAM [COUNT] [FOLDER] runs PROGRAM until link over COUNT made repositories
# (300), half of them by path and half by file:// URL, then moves ten origins and resumes. It prints
# the peak memory of the program, and the peak numbers of git processes and of open files
# of the program. FOLDER is kept, an unnamed one is deleted.
set -eu
program=$(realpath "$1") count=${2:-300} dir=${3:-}
if [ -z "$dir" ]; then
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$dir/cache" && cd "$dir"
export XDG_CACHE_HOME=$dir/cache GIT_CONFIG_GLOBAL=/dev/null BENCHMINT_FILTERS_MODIFIES_ONLY=false

# commits writes commits A to B of a repository whose history is like no other's.
commits() {
	local name=$1 from=$2 to=$3 n text
	for ((n = from; n <= to; n++)); do
		echo "commit refs/heads/main"
		echo "committer A <a@example.org> $((1700000000 + n * 86400)) +0000"
		text="Change $n of $name (#$n)"
		printf 'data %d\n%s\n' ${#text} "$text"
		if ((n == from && n > 1)); then echo "from refs/heads/main^0"; fi
		for file in app.go app_test.go; do
			text="package $name // $n"
			printf 'M 100644 inline %s\ndata %d\n%s\n' $file ${#text} "$text"
		done
		if ((n == 2)); then printf 'reset refs/tags/v1.0\nfrom refs/heads/main\n\n'; fi
	done
}

sources=()
for ((i = 0; i < count; i++)); do
	name=made$i
	if ! [ -d "$name" ]; then
		git init -q --bare -b main "$name"
		commits "$name" 1 6 | git -C "$name" fast-import --quiet
	fi
	if ((i % 2)); then sources+=("file://$dir/$name"); else sources+=("./$name"); fi
done

measure() {
	"$program" run "${sources[@]}" --until link --store state >out.txt 2>err.txt &
	local pid=$! git=0 files=0 views=0 n start=$SECONDS
	while kill -0 $pid 2>/dev/null; do
		n=$(ps -o comm= --ppid $pid 2>/dev/null | grep -c '^git' || true)
		((n > git)) && git=$n
		n=$(ls /proc/$pid/fd 2>/dev/null | wc -l)
		((n > files)) && files=$n
		n=$(grep VmHWM /proc/$pid/status 2>/dev/null | tr -dc 0-9 || true)
		((${n:-0} > views)) && views=$n
		sleep 0.1
	done
	local code=0
	wait $pid || code=$?
	echo "$1: code $code, $((SECONDS - start)) s, memory $((views / 1024)) MB, git processes $git, open files $files; $(grep ^funnel out.txt || tail -1 err.txt)"
}
measure "first run"
for ((i = 0; i < 10 && i < count; i++)); do commits "made$i" 7 7 | git -C "made$i" fast-import --quiet; done
measure "ten moved"
measure "nothing new"
