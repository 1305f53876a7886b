"""Clients of databases that connect in C, where no socket of Python's is seen."""
import os

from . import before
from .hook_process import address


def told(given, port):
    """Tells host and port of a connection; without a host it is this machine's."""
    host = str(given.get("host") or given.get("hostaddr") or "localhost")
    if not host.startswith("/"):
        address(host.split(",")[0], str(given.get("port") or port).split(",")[0])


def libpq(parse):
    def connects(dsn="", *args, **kwargs):
        if isinstance(dsn, bytes):
            dsn = dsn.decode("utf-8", "replace")
        given = {"host": os.environ.get("PGHOST"), "port": os.environ.get("PGPORT")}
        given.update(parse(dsn) if dsn else {})
        given.update({k: v for k, v in kwargs.items() if v})
        told(given, 5432)
    return connects


def psycopg2_loaded(module):
    before(module, "connect", libpq(module.extensions.parse_dsn))


def psycopg_loaded(module):
    from psycopg.conninfo import conninfo_to_dict
    before(module, "connect", libpq(conninfo_to_dict))


def mysql_loaded(module):
    before(module.Connection, "__init__", lambda self, host=None, *a, **k: None if k.get("unix_socket") else told(dict(k, host=host or k.get("host")), 3306))


MODULES = {"psycopg2": psycopg2_loaded, "psycopg.generators": psycopg_loaded, "MySQLdb.connections": mysql_loaded}
