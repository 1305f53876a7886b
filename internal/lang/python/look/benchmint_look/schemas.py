"""Fields (look.Field) of the schemas that frameworks have: JSON Schema, pydantic, marshmallow."""

MOST_FIELDS, MOST_DEPTH, MOST_TEXT = 200, 5, 1000
FORMATS = {"email", "uuid", "date-time", "date", "time", "uri", "password"}


def takes(place, schema=None, type="", fields=None):
    """A fact body; None where nothing is known."""
    fields = fields_of(schema) if fields is None else fields
    name = type or getattr(schema, "__name__", None) or schema.__class__.__name__
    fact = {"fact": "body", "in": place, "type": name if name not in ("dict", "list", "NoneType") else "", "fields": fields}
    return {k: v for k, v in fact.items() if v} if fields else None


def fields_of(schema):
    """Fields of a marshmallow schema, a pydantic model, a JSON Schema, or a mapping of marshmallow fields."""
    if hasattr(schema, "_declared_fields"):
        fields = getattr(schema, "load_fields", None) or getattr(schema, "fields", None) or schema._declared_fields
        many, partial = getattr(schema, "many", False) is True, getattr(schema, "partial", None)
        found = marshmallow_fields(fields, 2 if many else 0)
        for f in found:
            if partial is True or isinstance(partial, (list, tuple, set)) and f["name"] in partial:
                f.pop("required", None)
        return [{"name": "", "type": "array", "items": {"name": "", "type": "object", "fields": found}}] if many and found else found
    if hasattr(schema, "model_json_schema"):
        return members(schema.model_json_schema())
    if hasattr(schema, "schema") and hasattr(schema, "__fields__"):
        return members(schema.schema())
    if isinstance(schema, dict):
        if all(hasattr(f, "_deserialize") for f in schema.values()):
            return marshmallow_fields(schema, 0)
        return members(schema)
    return []


def members(schema, root=None, depth=0):
    """Fields of an object of JSON Schema."""
    root = root or schema
    schema = resolved(schema, root)
    if depth > MOST_DEPTH:
        return []
    need, out = set(schema.get("required") or ()), []
    for name, member in list((schema.get("properties") or {}).items())[:MOST_FIELDS]:
        if len(name) < MOST_TEXT and not (isinstance(member, dict) and member.get("readOnly")):
            out.append(field(name, member, name in need, root, depth))
    return out


def resolved(schema, root):
    """A schema behind $ref, a single allOf, or an anyOf with null."""
    for _ in range(10):
        if not isinstance(schema, dict):
            return {}
        ref = schema.get("$ref")
        choices = schema.get("allOf") or schema.get("anyOf") or schema.get("oneOf")
        if isinstance(ref, str):
            to = root
            for part in ref.lstrip("#/").split("/"):
                to = to.get(part, {}) if isinstance(to, dict) else {}
            schema = dict(to, **{k: v for k, v in schema.items() if k != "$ref"})
        elif choices and "properties" not in schema:
            some = [c for c in choices if isinstance(c, dict) and c.get("type") != "null"]
            if not some:
                return schema
            if "allOf" in schema and len(some) > 1:
                parts = [resolved(c, root) for c in some]
                return {"type": "object", "properties": {k: v for p in parts for k, v in p.get("properties", {}).items()}, "required": [r for p in parts for r in p.get("required", [])]}
            schema = dict(some[0], **{k: v for k, v in schema.items() if k not in ("allOf", "anyOf", "oneOf")})
        else:
            return schema
    return {}


def field(name, schema, required, root, depth=0):
    """One member of an object of JSON Schema."""
    schema = resolved(schema, root)
    kind, form = schema.get("type"), schema.get("format")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), None)
    default = schema.get("default")
    enum = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    examples = schema.get("examples")
    out = {
        "name": name, "type": kind or ("object" if "properties" in schema else ""), "required": required,
        "format": form if form in FORMATS else "", "enum": [str(e) for e in enum if e is not None][:MOST_FIELDS],
        "min": first(schema, "minimum", "exclusiveMinimum", "minLength", "minItems"),
        "max": first(schema, "maximum", "exclusiveMaximum", "maxLength", "maxItems"),
        "pattern": schema.get("pattern", ""), "example": schema.get("example", examples[0] if isinstance(examples, list) and examples else default),
    }
    if "properties" in schema:
        out["fields"] = members(schema, root, depth + 1)
    if isinstance(schema.get("items"), dict) and depth < MOST_DEPTH:
        out["items"] = field("", schema["items"], False, root, depth + 1)
    return plain(out)


def first(schema, *names):
    return next((schema[n] for n in names if number(schema.get(n))), None)


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def plain(out):
    """A field without what is not known."""
    if not isinstance(out.get("example"), (str, int, float, bool, list, dict)):
        out.pop("example", None)
    if len(str(out.get("pattern") or "")) >= MOST_TEXT:
        out.pop("pattern")
    return {k: v for k, v in out.items() if k == "name" or v not in ("", None, False, []) or k in ("min", "max") and number(v)}


# What marshmallow, Django REST framework and Python call the types.
TYPES = {
    "string": "Str String Email EmailField Url URL URLField UUID UUIDField Date DateField DateTime DateTimeField AwareDateTime NaiveDateTime Time TimeField CharField SlugField RegexField"
              " ChoiceField IPAddressField str date datetime time bytes",
    "integer": "Int Integer IntegerField PrimaryKeyRelatedField int",
    "number": "Float Number Decimal FloatField DecimalField float",
    "boolean": "Bool Boolean BooleanField NullBooleanField bool",
    "array": "List Tuple Pluck ListField MultipleChoiceField ManyRelatedField ListSerializer list tuple set frozenset",
    "object": "Dict Mapping Nested DictField JSONField HStoreField dict",
}
KINDS = {name: kind for kind, names in TYPES.items() for name in names.split()}
FORMAT = {
    "Email": "email", "EmailField": "email", "Url": "uri", "URL": "uri", "URLField": "uri", "UUID": "uuid", "UUIDField": "uuid", "Date": "date", "DateField": "date", "date": "date",
    "DateTime": "date-time", "DateTimeField": "date-time", "AwareDateTime": "date-time", "NaiveDateTime": "date-time", "datetime": "date-time",
}


def kind_of(cls):
    """Type and format by the names of a class and those that it comes from."""
    names = [c.__name__ for c in getattr(cls, "__mro__", ())]
    return next((KINDS[n] for n in names if n in KINDS), ""), next((FORMAT[n] for n in names if n in FORMAT), "")


def marshmallow_fields(fields, depth):
    out = []
    for name, f in list(fields.items())[:MOST_FIELDS]:
        if not getattr(f, "dump_only", False):
            key = getattr(f, "data_key", None) or getattr(f, "load_from", None) or name
            out.append(marshmallow_field(str(key), f, depth))
    return out


def marshmallow_field(name, f, depth):
    kind, form = kind_of(type(f))
    out = {"name": name, "type": kind, "format": form, "required": bool(getattr(f, "required", False))}
    metadata = getattr(f, "metadata", None) or {}
    out["example"] = metadata.get("example")
    for v in getattr(f, "validators", None) or ():
        which = type(v).__name__
        if which in ("Length", "Range"):
            equal = getattr(v, "equal", None)
            low, high = (v.min, v.max) if equal is None else (equal, equal)
            out["min"], out["max"] = low if number(low) else None, high if number(high) else None
        elif which == "OneOf":
            out["enum"] = [str(c) for c in list(v.choices)[:MOST_FIELDS]]
        elif which == "Regexp":
            out["pattern"] = v.regex.pattern
        elif which == "Email" and not out["format"]:
            out["format"] = "email"
    inner = getattr(f, "inner", None) or getattr(f, "container", None)
    if inner is not None and depth < MOST_DEPTH:
        out["items"] = marshmallow_field("", inner, depth + 1)
    if hasattr(type(f), "schema") and depth < MOST_DEPTH:  # Nested
        many = getattr(f, "many", False)
        found = marshmallow_fields(f.schema.fields, depth + (2 if many else 1))  # a list is a level, too
        if many:
            out["type"], out["items"] = "array", {"name": "", "type": "object", "fields": found}
        else:
            out["fields"] = found
    return plain(out)
