import functools
import json
import os

from flask import Blueprint, Flask, jsonify, request
from flask.views import MethodView

KIND = "flask"
REQUESTS = [
    ("POST", "/users"), ("POST", "/users", {"name": "ann", "address": {"city": "Ulm"}, "tags": [{"id": 1}]}), ("GET", "/users/3?page=2"),
    ("POST", "/api/v1/notes/", "title=a"), ("PUT", "/raw", {"x": 1}),
]


def silent(f):
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    wrapper.__name__ = f.__name__
    return wrapper


def polite(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper


notes = Blueprint("notes", __name__, url_prefix="/notes")


class Notes(MethodView):
    decorators = [polite]

    def get(self):
        return jsonify([])

    def post(self):
        return jsonify(request.form.get("title"))


notes.add_url_rule("/", view_func=Notes.as_view("notes"))


def create_app():
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "none")

    @app.route("/users", methods=["POST"])
    @polite
    @silent
    def add_user():
        data = request.get_json(silent=True) or {}
        assert isinstance(data, dict) and isinstance(data.get("address", {}), dict)
        city = data.get("address", {}).get("city")
        first = data["tags"][0]["id"] if "tags" in data else 0
        return json.dumps({"all": data, "city": city, "first": first}), 201

    @app.route("/users/<int:id>")
    def get_user(id):
        return jsonify(id=id, page=request.args["page"], missing=request.args.get("q"), who=request.headers.get("Authorization"))

    @app.route("/raw", methods=["PUT", "PATCH"])
    def raw():
        return jsonify(json.loads(request.data)["x"])

    app.add_url_rule("/partial/<uuid:key>", "partial", functools.partial(polite(index), 1))
    app.register_blueprint(notes, url_prefix="/api/v1/notes")
    return app


def index(number, key):
    return str(number)


app = create_app()
