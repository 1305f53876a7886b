# The first process of a run: makes the interface that leads nowhere, runs the
# command as the user without any capability, and notes what it ran into.
judge() {
@JUDGE@
}
set -e
mkdir -m 700 /run/benchmint-end
if [ -f /run/benchmint-sealed/above ]; then
	# What is root's in a folder of root's with the sticky bit can be neither replaced nor moved.
	xargs -0 -r sh -c 'for p; do [ -e "$p" ] || [ -L "$p" ] || { [ "${p%/}" != "$p" ] && mkdir -p "$p"; } || continue; p=${p%/}; chown -Rh 0:0 "$p"; [ -L "$p" ] || chmod -R go-w,a+rX "$p"; done' sh </run/benchmint-sealed/paths
	xargs -0 -r sh -c 'for p; do [ -d "$p" ] && [ ! -L "$p" ] || continue; chown 0:0 "$p"; chmod 1777 "$p"; done' sh </run/benchmint-sealed/above
	printf '[safe]\n\tdirectory = *\n' >/etc/gitconfig # the tree is not its user's any more
fi
if [ "$1" = joined ]; then
	tries=0
	until ip link show dev eth0 up 2>/dev/null | grep -q eth0; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ]
		sleep 0.01
	done
else
	printf 'link add eth0 type veth peer name peer0\nlink set dev eth0 addrgenmode none\nlink set dev peer0 addrgenmode none\naddr add 10.66.0.2/24 dev eth0\naddr add fd66::2/64 dev eth0 nodad\nlink set peer0 up\nlink set eth0 up\n' | ip -batch -
fi
if [ "$1" = shared ]; then
	read -r line # a byte at a time: what follows is the command's
	[ "$2" = channel ] || exec </dev/null
fi
if [ "$2" = channel ]; then
	# What is given comes by our standard input, the report leaves by our standard error:
	# pipes of root's, which the command cannot open again. All output is one stream.
	exec 8<&0 0</dev/null 9>&2 2>&1
fi
dir=$3
shift 3
# Handlers, because ignored signals would be inherited.
trap : HUP INT QUIT TERM
set +e
/usr/bin/setpriv --reuid @UID@ --regid @GID@ --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs -- \
	/usr/bin/env -i -C "$dir" -- "$@"
code=$?
if [ "$code" != 0 ]; then judge >/run/benchmint-end/end 2>/dev/null; fi
exit "$code"
