"""Drives a service of ours in its own process, without a socket: tells its table, and sends its REQUESTS.

    python drive.py MODULE

The hook was started by sitecustomize. A request is (method, path) or (method, path, body): a dict is sent
as JSON, a string as a form.
"""
import asyncio
import importlib
import json
import os
import sys


def encoded(body):
    if isinstance(body, str):
        return body.encode(), "application/x-www-form-urlencoded"
    return (b"", "") if body is None else (json.dumps(body).encode(), "application/json")


def flask(app, requests):
    for method, path, body in requests:
        data, kind = encoded(body)
        answer = app.test_client().open(path, method=method, data=data, content_type=kind or None)
        print(method, path, answer.status_code)


def django(app, requests):
    from django.test import Client
    for method, path, body in requests:
        data, kind = encoded(body)
        print(method, path, Client(raise_request_exception=False).generic(method, path, data, kind or "application/json").status_code)


def asgi(app, requests):
    async def send_all():
        async def started(message):
            print(message["type"])

        async def lifespan():
            return {"type": "lifespan.startup" if not begun else "lifespan.shutdown", "begun": begun.append(1)}
        begun = []
        await app({"type": "lifespan", "asgi": {"version": "3.0"}}, lifespan, started)
        for method, path, body in requests:
            data, kind = encoded(body)
            path, _, query = path.partition("?")

            async def receive():
                return {"type": "http.request", "body": data, "more_body": False}

            async def answered(message):
                if message["type"] == "http.response.start":
                    print(method, path, message["status"])
            scope = {
                "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path, "raw_path": path.encode(), "root_path": "", "scheme": "http",
                "query_string": query.encode(), "headers": [(b"host", b"test"), (b"content-type", kind.encode()), (b"content-length", str(len(data)).encode())],
                "client": ("test", 1), "server": ("test", 80),
            }
            await app(scope, receive, answered)
    run(send_all())


def aiohttp(app, requests):
    from unittest import mock

    from aiohttp import streams
    from aiohttp.test_utils import make_mocked_request

    async def send_all():
        app.freeze()
        for method, path, body in requests:
            data, kind = encoded(body)
            reader = streams.StreamReader(mock.Mock(_reading_paused=False), limit=2 ** 16, loop=asyncio.get_event_loop())
            reader.feed_data(data)
            reader.feed_eof()
            request = make_mocked_request(method, path, headers={"Content-Type": kind} if kind else {}, payload=reader, app=app)
            try:
                print(method, path, (await app._handle(request)).status)
            except Exception as e:
                print(method, path, repr(e))
    run(send_all())


def run(coroutine):
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(coroutine)


def main():
    sys.path.insert(0, os.getcwd())
    module = importlib.import_module(sys.argv[1])
    import benchmint_look
    with benchmint_look.quiet():
        benchmint_look.tables()
    for app, requests in getattr(module, "APPS", None) or [(module.app, module.REQUESTS)]:
        globals()[module.KIND](app, [r + (None,) if len(r) == 2 else r for r in requests])


main()
