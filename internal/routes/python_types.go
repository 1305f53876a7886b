package routes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// maxNested bounds models in models.
const maxNested = 6

// plainTypes are types by their last name, with their formats.
var plainTypes = map[string][2]string{
	"str": {"string"}, "int": {"integer"}, "float": {"number"}, "bool": {"boolean"}, "bytes": {"string"}, "dict": {"object"}, "list": {"array"},
	"Decimal": {"number"}, "UUID": {"string", "uuid"}, "UUID1": {"string", "uuid"}, "UUID3": {"string", "uuid"}, "UUID4": {"string", "uuid"}, "UUID5": {"string", "uuid"},
	"datetime": {"string", "date-time"}, "AwareDatetime": {"string", "date-time"}, "NaiveDatetime": {"string", "date-time"}, "FutureDatetime": {"string", "date-time"}, "PastDatetime": {"string", "date-time"},
	"date": {"string", "date"}, "PastDate": {"string", "date"}, "FutureDate": {"string", "date"}, "time": {"string", "time"}, "timedelta": {"number"},
	"EmailStr": {"string", "email"}, "NameEmail": {"string", "email"}, "SecretStr": {"string", "password"}, "SecretBytes": {"string", "password"},
	"AnyUrl": {"string", "uri"}, "HttpUrl": {"string", "uri"}, "AnyHttpUrl": {"string", "uri"}, "PostgresDsn": {"string", "uri"}, "RedisDsn": {"string", "uri"},
	"StrictStr": {"string"}, "StrictInt": {"integer"}, "StrictBool": {"boolean"}, "StrictFloat": {"number"},
	"PositiveInt": {"integer"}, "NonNegativeInt": {"integer"}, "PositiveFloat": {"number"}, "NonNegativeFloat": {"number"}, "NegativeInt": {"integer"},
	"Dict": {"object"}, "Mapping": {"object"}, "List": {"array"}, "Json": {"string"}, "Path": {"string"}, "IPvAnyAddress": {"string", "ipv4"}, "IPv4Address": {"string", "ipv4"},
	"constr": {"string"}, "conint": {"integer"}, "confloat": {"number"}, "condecimal": {"number"}, "conlist": {"array"}, "conset": {"array"},
	"ObjectId": {"string"}, "PyObjectId": {"string"}, "LiteralString": {"string"},
	// The types of Flask's parsers: reqparse has these and functions.
	"boolean": {"boolean"}, "positive": {"integer"}, "natural": {"integer"}, "email": {"string", "email"}, "url": {"string", "uri"}, "date_from_iso8601": {"string", "date"}, "datetime_from_iso8601": {"string", "date-time"},
}

var (
	listTypes  = []string{"list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "Iterable", "tuple", "Tuple", "Collection", "conlist", "conset", "MutableSequence"}
	asIs       = []string{"Optional", "Required", "NotRequired", "Final", "Mapped", "type", "Type", "ReadOnly"}
	someOf     = []string{"Union"}
	dictTypes  = []string{"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict"}
	optionalOf = []string{"Optional", "NotRequired"}
)

// typeField is what an annotation says of a value. Its Required is false where the
// annotation has None.
func (p *python) typeField(t pyValue, depth int) Field {
	f := Field{Required: true}
	if depth > maxNested {
		return f
	}
	switch x := t.(type) {
	case pyNone:
		f.Required = false
	case string: // a name in quotes
		return f
	case *pyExternal:
		return externalField(lastName(x.name))
	case *pyMember:
		return externalField(x.name)
	case *pyCall: // constr(min_length=1)
		if lastName(nameOf(x.of)) == "NewType" && len(x.args) == 2 {
			return p.typeField(x.args[1], depth+1)
		}
		f = externalField(lastName(nameOf(x.of)))
		if len(x.args) == 1 && f.Type == "array" {
			inner := p.typeField(x.args[0], depth+1)
			f.Items = &inner
		}
		constrain(&f, x)
	case *pyEither:
		return p.eitherField(x.items, depth)
	case *pyIndexed:
		return p.indexedField(x, depth)
	case *pyClass:
		return p.classField(x, nil, depth)
	case *pyFunction: // a function that reads a value
		return f
	}
	return f
}

func externalField(name string) Field {
	f := Field{Required: true}
	found := plainTypes[name]
	f.Type, f.Format = found[0], found[1]
	switch name {
	case "PositiveInt", "PositiveFloat", "positive":
		f.Min = bound(1)
	case "NonNegativeInt", "NonNegativeFloat", "natural":
		f.Min = bound(0)
	case "NegativeInt":
		f.Max = bound(-1)
	}
	return f
}

func bound(x float64) *float64 { return &x }

// eitherField is the first that is not None.
func (p *python) eitherField(items []pyValue, depth int) Field {
	var f Field
	found, optional := false, false
	for _, i := range items {
		if _, empty := i.(pyNone); empty {
			optional = true
			continue
		}
		inner := p.typeField(i, depth+1)
		optional = optional || !inner.Required
		if !found {
			f, found = inner, true
		}
	}
	f.Required = found && !optional
	return f
}

func (p *python) indexedField(x *pyIndexed, depth int) Field {
	if of, ok := x.of.(*pyClass); ok {
		return p.classField(of, x.items, depth)
	}
	name := lastName(nameOf(x.of))
	if len(x.items) == 0 {
		return Field{Required: true}
	}
	switch {
	case name == "Annotated":
		f := p.typeField(p.quoted(x.items[0]), depth)
		for _, m := range x.items[1:] {
			if c, ok := m.(*pyCall); ok {
				constrain(&f, c)
			}
		}
		return f
	case name == "Literal":
		return literalField(x.items)
	case slices.Contains(asIs, name):
		f := p.typeField(p.quoted(x.items[0]), depth)
		if slices.Contains(optionalOf, name) {
			f.Required = false
		}
		return f
	case slices.Contains(someOf, name):
		return p.eitherField(x.items, depth)
	case slices.Contains(listTypes, name):
		inner := p.typeField(p.quoted(x.items[0]), depth+1)
		return Field{Type: "array", Required: true, Items: &inner}
	case slices.Contains(dictTypes, name):
		return Field{Type: "object", Required: true}
	}
	return Field{Required: true}
}

// quoted resolves the name of a class in quotes.
func (p *python) quoted(v pyValue) pyValue {
	s, ok := v.(string)
	if !ok || p.home == nil {
		return v
	}
	return p.quotedIn(s, p.home)
}

func (p *python) quotedIn(s string, m *pyModule) pyValue {
	if len(s) > 200 || strings.ContainsAny(s, "\n#") {
		return nil
	}
	tree, err := syntax.ParseTree(syntax.Python, []byte(s))
	if err != nil || tree.Broken() {
		return nil
	}
	return p.eval(tree.Root().First(), &pyFrame{scope: m.scope, module: m})
}

func literalField(items []pyValue) Field {
	f := Field{Required: true}
	for _, i := range items {
		switch v := i.(type) {
		case string:
			f.Type = "string"
			f.Enum = append(f.Enum, v)
		case int64:
			f.Type = "integer"
			f.Enum = append(f.Enum, strconv.FormatInt(v, 10))
		case bool:
			f.Type = "boolean"
		case pyNone:
			f.Required = false
		}
	}
	return f
}

// classField is what a class of the tree says of a value.
func (p *python) classField(c *pyClass, given []pyValue, depth int) Field {
	switch {
	case c.isEnum():
		f := Field{Required: true}
		for _, m := range p.membersOf(c) {
			inner := literalField([]pyValue{m.(*pyInstance).attrs["value"]})
			f.Type, f.Enum = inner.Type, append(f.Enum, inner.Enum...)
		}
		return f
	case c.isModel():
		f := Field{Type: "object", Required: true}
		if root, ok := p.rootModel(c, depth); ok {
			return root
		}
		if !slices.Contains(p.open, c) {
			f.Fields = p.modelFields(c, given, depth+1)
		}
		return f
	}
	for _, b := range c.externals() { // class Slug(str)
		if f := externalField(lastName(nameOf(b))); f.Type != "" {
			return f
		}
	}
	return Field{Required: true}
}

// isModel reports whether a class says by its annotations what an object has.
func (c *pyClass) isModel() bool {
	return c.inherits("BaseModel", "SQLModel", "TypedDict", "RootModel", "GenericModel", "BaseSettings", "CamelModel", "APIModel", "NamedTuple", "Struct", "Document", "CreateUpdateDictModel", "BaseUser", "BaseUserCreate", "BaseUserUpdate") ||
		slices.ContainsFunc(c.line(), func(a *pyClass) bool {
			return slices.ContainsFunc(a.decorators, func(d pyValue) bool {
				return slices.Contains([]string{"dataclass", "define", "frozen", "s", "attrs"}, lastName(nameOf(d)))
			})
		})
}

// rootModel is a model of one value that is no object.
func (p *python) rootModel(c *pyClass, depth int) (Field, bool) {
	for _, a := range c.line() {
		for _, b := range a.bases {
			if i, ok := b.(*pyIndexed); ok && lastName(nameOf(i.of)) == "RootModel" && len(i.items) == 1 {
				return p.typeField(i.items[0], depth+1), true
			}
		}
		for _, n := range annotated(a) {
			if name := n.Child("left").Text(); name == "root" || name == "__root__" {
				return p.typeField(p.eval(n.Child("type"), a.frame()), depth+1), true
			}
		}
	}
	return Field{}, false
}

func (c *pyClass) frame() *pyFrame { return &pyFrame{scope: c.scope, module: c.module, class: c} }

// annotated are the assignments with a type in the body of a class.
func annotated(c *pyClass) []syntax.Node {
	var out []syntax.Node
	for s := range c.node.Child("body").Children() {
		if a := s.First("assignment"); s.Is("expression_statement") && a.Child("type").Is() && a.Child("left").Is("identifier") {
			out = append(out, a)
		}
	}
	return out
}

// modelFields are those of a model and of the models that it inherits from. given are the
// types that stand for its parameters.
func (p *python) modelFields(c *pyClass, given []pyValue, depth int) []Field {
	p.open = append(p.open, c)
	defer func() { p.open = p.open[:len(p.open)-1] }()
	var out []Field
	types := typeParameters(c, given)
	line := c.line()
	slices.Reverse(line)
	camel := p.isCamel(c)
	for _, a := range line {
		before := p.home
		p.home = a.module
		for _, n := range annotated(a) {
			if p.fields++; p.fields > maxFields {
				break
			}
			if f, ok := p.modelField(a, n, types, depth); ok {
				if camel && f.Name == n.Child("left").Text() {
					f.Name = camelCase(f.Name)
				}
				out = replaced(out, f)
			}
		}
		p.home = before
	}
	p.applyExample(c, out)
	return out
}

// replaced puts a field in the place of one of its name.
func replaced(all []Field, f Field) []Field {
	if i := slices.IndexFunc(all, func(o Field) bool { return o.Name == f.Name }); i >= 0 {
		all[i] = f
		return all
	}
	return append(all, f)
}

// typeParameters are the types given for those of Generic[T].
func typeParameters(c *pyClass, given []pyValue) map[pyValue]pyValue {
	if len(given) == 0 {
		return nil
	}
	out := map[pyValue]pyValue{}
	for _, b := range c.bases {
		i, ok := b.(*pyIndexed)
		if !ok {
			continue
		}
		for n, t := range i.items {
			if t, ok := t.(*pyCall); ok && n < len(given) {
				out[t] = given[n]
			}
		}
	}
	return out
}

// substitute puts types in the places of parameters.
func substitute(t pyValue, types map[pyValue]pyValue, depth int) pyValue {
	if len(types) == 0 || depth > maxNested {
		return t
	}
	all := func(items []pyValue) []pyValue {
		out := make([]pyValue, len(items))
		for i, v := range items {
			out[i] = substitute(v, types, depth+1)
		}
		return out
	}
	switch x := t.(type) {
	case *pyCall:
		if found, ok := types[x]; ok {
			return found
		}
	case *pyIndexed:
		return &pyIndexed{x.of, all(x.items)}
	case *pyEither:
		return &pyEither{all(x.items)}
	}
	return t
}

// modelField is one annotated name of a model; false for what is not sent.
func (p *python) modelField(c *pyClass, n syntax.Node, types map[pyValue]pyValue, depth int) (Field, bool) {
	name := n.Child("left").Text()
	t := substitute(p.quoted(p.eval(n.Child("type"), c.frame())), types, 0)
	if strings.HasPrefix(name, "_") || name == "model_config" || lastName(nameOf(t)) == "ClassVar" || lastName(nameOf(t)) == "PrivateAttr" {
		return Field{}, false
	}
	var value pyValue
	right := n.Child("right")
	if right.Is() {
		value = p.eval(right, c.frame())
	}
	made, _ := value.(*pyCall)
	if made != nil && slices.Contains([]string{"Relationship", "relationship", "PrivateAttr"}, lastName(nameOf(made.of))) {
		return Field{}, false
	}
	f := p.typeField(t, depth)
	f.Name = name
	optional := !f.Required
	f.Required = !right.Is() && (!optional || !p.oldPydantic())
	if i, ok := t.(*pyIndexed); ok && lastName(nameOf(i.of)) == "Annotated" {
		for _, m := range i.items[1:] {
			if c, ok := m.(*pyCall); ok && lastName(nameOf(c.of)) == "Field" {
				p.applyField(&f, c, false)
			}
		}
	}
	switch {
	case made != nil && slices.Contains([]string{"Field", "field", "Column", "mapped_column", "Query", "Body", "Form", "Path"}, lastName(nameOf(made.of))):
		p.applyField(&f, made, true)
	case right.Is():
		setExample(&f, value)
		if isEllipsis(value) {
			f.Required = true
		}
	}
	return f, true
}

func isEllipsis(v pyValue) bool {
	e, ok := v.(*pyExternal)
	return ok && e.name == "builtins.Ellipsis"
}

// applyField reads Field(…).
func (p *python) applyField(f *Field, c *pyCall, whole bool) {
	constrain(f, c)
	if alias, ok := c.text(-1, "validation_alias", "alias"); ok {
		f.Name = alias
	}
	otherwise, has := c.arg(0, "default")
	_, made := c.named["default_factory"]
	switch {
	case has && isEllipsis(otherwise):
		f.Required = true
	case has || made:
		f.Required = false
		setExample(f, otherwise)
	case whole:
		f.Required = true
	}
}

// constrain reads the bounds that a call gives by name.
func constrain(f *Field, c *pyCall) {
	num := func(names ...string) *float64 {
		v, _ := c.arg(-1, names...)
		return boundOf(v)
	}
	if x := num("min_length", "min_items", "ge"); x != nil {
		f.Min = x
	}
	if x := num("max_length", "max_items", "le"); x != nil {
		f.Max = x
	}
	step := 1.0
	if f.Type == "number" {
		step = 0.01
	}
	if x := num("gt"); x != nil {
		f.Min = bound(*x + step)
	}
	if x := num("lt"); x != nil {
		f.Max = bound(*x - step)
	}
	if s, ok := c.text(-1, "pattern", "regex"); ok {
		f.Pattern = s
	}
	if v, ok := c.named["example"]; ok {
		setExample(f, v)
	}
	if items := itemsOf(c.named["examples"]); len(items) > 0 {
		setExample(f, items[0])
	}
	if d, ok := c.named["json_schema_extra"].(*pyDictionary); ok {
		if v, ok := d.get("example"); ok {
			setExample(f, v)
		}
		if v, ok := d.get("examples"); ok && len(itemsOf(v)) > 0 {
			setExample(f, itemsOf(v)[0])
		}
	}
}

// settingOf is a setting of a model: of model_config, or of its class Config.
func (p *python) settingOf(c *pyClass, names ...string) pyValue {
	for _, a := range c.line() {
		switch x := a.scope.vars["model_config"].(type) {
		case *pyCall:
			if v, ok := x.arg(-1, names...); ok {
				return v
			}
		case *pyDictionary:
			for _, name := range names {
				if v, ok := x.get(name); ok {
					return v
				}
			}
		}
		if config, ok := a.scope.vars["Config"].(*pyClass); ok {
			for _, name := range names {
				if v, _ := config.own(name); v != nil {
					return v
				}
			}
		}
	}
	return nil
}

func (p *python) isCamel(c *pyClass) bool {
	v := p.settingOf(c, "alias_generator")
	if v == nil {
		return c.inherits("CamelModel")
	}
	return strings.Contains(strings.ToLower(nameOf(v)), "camel")
}

func camelCase(s string) string {
	parts := strings.Split(s, "_")
	for i, part := range parts {
		if i > 0 && part != "" {
			parts[i] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

// applyExample takes the example of a whole model.
func (p *python) applyExample(c *pyClass, all []Field) {
	extra, ok := p.settingOf(c, "json_schema_extra", "schema_extra").(*pyDictionary)
	if !ok {
		return
	}
	v, ok := extra.get("example")
	if items, has := extra.get("examples"); !ok && has && len(itemsOf(items)) > 0 {
		v = itemsOf(items)[0]
	}
	if d, ok := v.(*pyDictionary); ok {
		applyExamples(all, d)
	}
}

// applyExamples gives fields the values of an object.
func applyExamples(all []Field, d *pyDictionary) {
	for i := range all {
		v, ok := d.get(all[i].Name)
		if !ok {
			continue
		}
		if inner, ok := v.(*pyDictionary); ok && len(all[i].Fields) > 0 {
			applyExamples(all[i].Fields, inner)
			continue
		}
		setExample(&all[i], v)
	}
}

// oldPydantic reports whether the tree is of Pydantic 1, where Optional[X] is not required.
func (p *python) oldPydantic() bool {
	if p.pydantic == 0 {
		p.pydantic = 2
		old, now := 0, 0
		for _, m := range p.sorted() {
			if m.tree == nil {
				continue
			}
			text := string(m.tree.Source)
			old += strings.Count(text, "orm_mode") + strings.Count(text, "@validator(") + strings.Count(text, "schema_extra =") + strings.Count(text, "from pydantic import BaseSettings")
			now += strings.Count(text, "model_config") + strings.Count(text, "field_validator") + strings.Count(text, "model_dump") + strings.Count(text, "from_attributes") + strings.Count(text, "pydantic_settings")
		}
		if old > now {
			p.pydantic = 1
		}
	}
	return p.pydantic == 1
}

// String is for messages of tests.
func (s *pySent) String() string { return fmt.Sprint(s.where, s.path) }
