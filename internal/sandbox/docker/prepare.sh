# Turns a Debian into the base of every layer: the user, the places that are the
# same in both kinds of sandbox, and names that are looked up in files only.
set -e
if ! getent group @GID@ >/dev/null; then groupadd --gid @GID@ tester; fi
if ! getent passwd @UID@ >/dev/null; then
	useradd --uid @UID@ --gid @GID@ --no-create-home --home-dir /home/tester --shell /bin/bash tester
fi
mkdir -p /testbed /opt/env /home/tester /opt/toolchains /run/benchmint
chown @UID@:@GID@ /testbed /opt/env /home/tester /run/benchmint
chmod 755 /testbed /opt/env /home/tester /run/benchmint /opt /opt/toolchains /run
sed -i 's/^hosts:.*/hosts: files/' /etc/nsswitch.conf
ln -sf /usr/share/zoneinfo/Etc/UTC /etc/localtime
rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb /var/log/*.log /usr/share/doc/*
