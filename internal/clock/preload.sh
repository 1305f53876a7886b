# $1 is ahead.c.txt, $2 what is defined in it, $3 an interpreter and $4 what it is to try, or both
# empty; the command follows. The environment of the command reaches no compiler.
now=$(/usr/bin/date +%s)
dir=$(/usr/bin/mktemp -d /tmp/.benchmint-clock-XXXXXXXX) || exit 96
for cc in gcc cc clang; do [ -x "/usr/bin/$cc" ] && break; done
printf %s "$1" | /usr/bin/env -i PATH=/usr/bin:/bin TMPDIR="$dir" "/usr/bin/$cc" \
	-x c -shared -fPIC -O2 $2 -o "$dir/ahead.so" - -ldl || exit 96
export LD_PRELOAD="$dir/ahead.so"
python=$3 try=$4
shift 4
if [ -n "$python" ]; then
	"$python" -I -S -c "$try" "$now" || exit 97
fi
unset PWD OLDPWD
exec "$@"
