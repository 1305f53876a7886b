"""What stands on Flask: each extension has an application."""
import apiflask
import flask_restx
import flask_smorest
from apifairy import APIFairy, arguments, body
from flask import Flask
from flask.views import MethodView
from flask_marshmallow import Marshmallow
from flask_restful import Api as Restful
from flask_restful import Resource, reqparse
from marshmallow import Schema, fields, validate

KIND = "flask"


class PetSchema(Schema):
    id = fields.Int(dump_only=True)
    name = fields.Str(required=True, validate=validate.Length(min=1, max=20))
    kind = fields.Str(validate=validate.OneOf(["cat", "dog"]))
    owner_mail = fields.Email(data_key="ownerMail")
    tags = fields.List(fields.Str())


class PageSchema(Schema):
    page = fields.Int(validate=validate.Range(min=1))


class Owner(Schema):
    pet = fields.Nested(PetSchema, required=True)


restful = Flask("restful")
parser = reqparse.RequestParser()
parser.add_argument("rate", type=int, required=True, choices=(1, 2))
parser.add_argument("q", location="args")


class Rates(Resource):
    def post(self, id):
        return parser.parse_args()


Restful(restful).add_resource(Rates, "/restful/<int:id>")

restx = Flask("restx")
api = flask_restx.Api(restx, prefix="/restx", doc="/restx/doc")
pet = api.model("Pet", {"name": flask_restx.fields.String(required=True, min_length=2), "age": flask_restx.fields.Integer(min=0)})
ns = api.namespace("pets")


@ns.route("/<string:key>")
class PetResource(flask_restx.Resource):
    @ns.expect(pet)
    def put(self, key):
        return api.payload

    def get(self, key):
        return {}


smorest = Flask("smorest")
smorest.config.update(API_TITLE="t", API_VERSION="1", OPENAPI_VERSION="3.0.2")
blp = flask_smorest.Blueprint("pets", "pets", url_prefix="/smorest")


@blp.route("/")
class SmorestPets(MethodView):
    @blp.arguments(PetSchema)
    @blp.response(201, PetSchema)
    def post(self, data):
        return data

    @blp.arguments(PageSchema, location="query")
    def get(self, args):
        return []


flask_smorest.Api(smorest).register_blueprint(blp)

fairy = Flask("fairy")
ma = Marshmallow(fairy)
APIFairy(fairy)


@fairy.route("/fairy", methods=["POST"])
@arguments(PageSchema)
@body(Owner)
def fairy_new(args, data):
    return {}


plus = apiflask.APIFlask("plus")


@plus.post("/plus")
@plus.input(PetSchema)
def plus_new(json_data):
    return {}


PET = {"name": "x", "rate": 1, "pet": {"name": "y"}}
APPS = [
    (restful, [("POST", "/restful/1", PET)]), (restx, [("PUT", "/restx/pets/a", PET)]), (smorest, [("POST", "/smorest/", PET), ("GET", "/smorest/?page=0")]),
    (fairy, [("POST", "/fairy", PET)]), (plus, [("POST", "/plus", PET)]),
]
