"""What a process asks of the system."""
import os
import socket
import sys

import settings_like


def swallow(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return e


os.environ["LATER"] = "1"
os.getenv("PORT", "8000")
swallow(os.environ.__getitem__, "DATABASE_URL")
"FEATURE" in os.environ
"LATER" in os.environ
os.environ.setdefault("MODE", "dev")
dict(os.environ), os.environ.copy(), [(k, v) for k, v in os.environ.items()]
swallow(open, "config.yaml")
swallow(open, "/nowhere/else.yaml")
os.path.exists(os.path.join(os.getcwd(), ".env"))
os.path.exists("data.bin")
open("written.txt", "w").close()
swallow(socket.create_connection, ("127.0.0.1", 1), 1)
swallow(socket.getaddrinfo, "db.invalid", 5432)
settings_like.Settings() if settings_like.Settings else None
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        os.getenv("CHILD")
        os._exit(0)
    os.waitpid(pid, 0)
for i in range(5000):
    os.getenv("FLOOD_%d" % i)
os.getenv("LONG_" + "x" * 2000)
print(isinstance(os.environ, os._Environ), os.environ.get("MODE"))
sys.stdout.flush()
raise SystemExit(3)
