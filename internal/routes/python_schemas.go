package routes

import (
	"slices"
	"strings"
)

// schemaFields are the fields that a schema reads, and its name: a model, a schema of
// Marshmallow, a table of SQLAlchemy, a dictionary of fields, a parser, a model of
// Flask-RESTX. false is none of these.
func (p *python) schemaFields(v pyValue, depth int) (all []Field, name string, ok bool) {
	if depth > maxNested {
		return nil, "", false
	}
	switch x := v.(type) {
	case *pyClass:
		return p.fieldsOfClass(x, nil, depth)
	case *pyInstance:
		all, name, ok = p.fieldsOfClass(x.class, nil, depth)
		if x.made != nil {
			all = p.chosen(all, x.made)
		}
		return all, name, ok
	case *pyIndexed:
		if c, ok := x.of.(*pyClass); ok {
			return p.fieldsOfClass(c, x.items, depth)
		}
	case *pySequence:
		if len(x.items) == 1 {
			return p.schemaFields(x.items[0], depth+1)
		}
	case *pyDictionary:
		return p.fieldsOfDictionary(x, depth)
	case *pyCall:
		return p.fieldsOfCall(x, depth)
	}
	return nil, "", false
}

func (p *python) fieldsOfClass(c *pyClass, given []pyValue, depth int) ([]Field, string, bool) {
	if slices.Contains(p.open, c) {
		return nil, c.name, true
	}
	switch {
	case c.isSchema():
		return p.marshmallow(c, depth), c.name, true
	case c.isModel():
		return p.modelFields(c, given, depth), c.name, true
	case c.isTable():
		return p.columns(c), c.name, true
	case c.isForm():
		return p.formFields(c, depth), c.name, true
	}
	return nil, "", false
}

func (c *pyClass) isSchema() bool {
	return c.inherits("Schema", "SQLAlchemySchema", "SQLAlchemyAutoSchema", "ModelSchema", "OrderedSchema", "TableSchema", "SQLAlchemySchemaOpts")
}

func (c *pyClass) isForm() bool { return c.inherits("FlaskForm", "Form", "BaseForm", "ModelForm") }

// isTable reports whether a class has columns of SQLAlchemy.
func (c *pyClass) isTable() bool {
	return slices.ContainsFunc(c.line(), func(a *pyClass) bool {
		for _, v := range a.scope.vars {
			if isColumn(v) {
				return true
			}
		}
		return false
	})
}

func isColumn(v pyValue) bool {
	c, ok := v.(*pyCall)
	return ok && slices.Contains([]string{"Column", "mapped_column"}, lastName(nameOf(c.of)))
}

// assigned are the names that the body of a class gives values, in order, those of the
// classes that it inherits from first.
func assigned(c *pyClass) []string {
	line := c.line()
	slices.Reverse(line)
	var out []string
	for _, a := range line {
		for s := range a.node.Child("body").Children() {
			left := s.First("assignment").Child("left")
			if left.Is("identifier") && !slices.Contains(out, left.Text()) && len(out) < maxItems {
				out = append(out, left.Text())
			}
		}
	}
	return out
}

// chosen applies the arguments only, exclude and partial of a schema.
func (p *python) chosen(all []Field, c *pyCall) []Field {
	if only := namesOf(c.named["only"]); len(only) > 0 {
		all = slices.DeleteFunc(slices.Clone(all), func(f Field) bool { return !slices.Contains(only, f.Name) })
	}
	if not := namesOf(c.named["exclude"]); len(not) > 0 {
		all = slices.DeleteFunc(slices.Clone(all), func(f Field) bool { return slices.Contains(not, f.Name) })
	}
	partial, _ := c.named["partial"].(bool)
	names := namesOf(c.named["partial"])
	for i := range all {
		if partial || slices.Contains(names, all[i].Name) {
			all[i].Required = false
		}
	}
	return all
}

func namesOf(v pyValue) []string {
	var out []string
	for _, i := range itemsOf(v) {
		if s, ok := i.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// marshmallow are the fields of a schema that are loaded.
func (p *python) marshmallow(c *pyClass, depth int) []Field {
	p.open = append(p.open, c)
	defer func() { p.open = p.open[:len(p.open)-1] }()
	var out, table []Field
	var not, dumped []string
	if meta, _ := c.own("Meta"); meta != nil {
		if meta, ok := meta.(*pyClass); ok {
			for _, name := range []string{"model", "table"} {
				if v, _ := meta.own(name); v != nil {
					if of := rootClass(v); of != nil { // Model, Model.__table__
						table = p.columns(of)
					}
				}
			}
			v, _ := meta.own("exclude")
			not = namesOf(v)
			v, _ = meta.own("dump_only")
			dumped = namesOf(v)
		}
	}
	if c.inherits("SQLAlchemyAutoSchema", "ModelSchema", "TableSchema") {
		out = slices.Clone(table)
	}
	for _, name := range assigned(c) {
		v, _ := c.own(name)
		f, ok := p.marshmallowField(name, v, table, depth)
		if !ok {
			if made, is := v.(*pyCall); is && isField(made) {
				out = slices.DeleteFunc(out, func(o Field) bool { return o.Name == name })
			}
			continue
		}
		out = replaced(out, f)
	}
	return slices.DeleteFunc(out, func(f Field) bool { return slices.Contains(not, f.Name) || slices.Contains(dumped, f.Name) })
}

// fieldTypes are the types of fields of Marshmallow, Flask-RESTX and WTForms by name.
var fieldTypes = map[string][2]string{
	"str": {"string"}, "string": {"string"}, "int": {"integer"}, "integer": {"integer"}, "float": {"number"}, "decimal": {"number"}, "number": {"number"}, "fixed": {"number"}, "arbitrary": {"number"},
	"bool": {"boolean"}, "boolean": {"boolean"}, "datetime": {"string", "date-time"}, "naivedatetime": {"string", "date-time"}, "awaredatetime": {"string", "date-time"}, "localdatetime": {"string", "date-time"},
	"date": {"string", "date"}, "time": {"string", "time"}, "timedelta": {"integer"}, "email": {"string", "email"}, "url": {"string", "uri"}, "uuid": {"string", "uuid"}, "ip": {"string", "ipv4"},
	"list": {"array"}, "nested": {"object"}, "dict": {"object"}, "mapping": {"object"}, "raw": {""}, "field": {""}, "enum": {"string"}, "enumfield": {"string"}, "pluck": {""}, "wildcard": {"object"}, "delimitedlist": {"array"}, "auto_field": {""}, "tuple": {"array"},
	"stringfield": {"string"}, "textareafield": {"string"}, "passwordfield": {"string", "password"}, "emailfield": {"string", "email"}, "integerfield": {"integer"}, "floatfield": {"number"}, "decimalfield": {"number"},
	"booleanfield": {"boolean"}, "selectfield": {"string"}, "radiofield": {"string"}, "datefield": {"string", "date"}, "datetimefield": {"string", "date-time"}, "hiddenfield": {"string"}, "urlfield": {"string", "uri"}, "telfield": {"string"}, "searchfield": {"string"}, "filefield": {"string"}, "selectmultiplefield": {"array"},
}

func isField(c *pyCall) bool {
	_, ok := fieldTypes[strings.ToLower(lastName(nameOf(c.of)))]
	return ok
}

// marshmallowField is one field; false for what is not loaded.
func (p *python) marshmallowField(name string, v pyValue, table []Field, depth int) (Field, bool) {
	c, ok := v.(*pyCall)
	if !ok || !isField(c) {
		return Field{}, false
	}
	if only, _ := c.named["dump_only"].(bool); only {
		return Field{}, false
	}
	if only, _ := c.named["readonly"].(bool); only {
		return Field{}, false
	}
	kind := strings.ToLower(lastName(nameOf(c.of)))
	f := Field{Name: name, Type: fieldTypes[kind][0], Format: fieldTypes[kind][1]}
	if kind == "auto_field" {
		column := name
		if s, ok := c.text(0); ok {
			column = s
		}
		if i := slices.IndexFunc(table, func(o Field) bool { return o.Name == column }); i >= 0 {
			f = table[i]
			f.Name = name
		}
	}
	switch kind {
	case "nested":
		if len(c.args) > 0 && !p.nested(&f, c, depth) {
			return Field{}, false
		}
	case "list", "delimitedlist":
		if v, ok := c.arg(0, "cls_or_instance"); ok {
			inner := p.innerField(v, depth)
			f.Items = &inner
		}
	case "enum", "enumfield":
		if v, ok := c.arg(0, "enum"); ok {
			if e, ok := v.(*pyClass); ok {
				for _, m := range p.membersOf(e) {
					f.Enum = append(f.Enum, m.(*pyInstance).attrs["name"].(string))
				}
			}
		}
	}
	f.Required, _ = c.named["required"].(bool)
	if key, ok := c.text(-1, "data_key", "load_from", "attribute_name"); ok {
		f.Name = key
	}
	p.fieldArguments(&f, c)
	return f, true
}

// innerField is the field of the items of a list.
func (p *python) innerField(v pyValue, depth int) Field {
	if _, isClass := v.(*pyExternal); isClass || isMember(v) { // fields.List(fields.Str)
		v = &pyCall{of: v, named: map[string]pyValue{}}
	}
	f, _ := p.marshmallowField("", v, nil, depth+1)
	if f.Type == "" {
		if all, _, ok := p.schemaFields(v, depth+1); ok {
			f.Type, f.Fields = "object", all
		}
	}
	f.Required = true
	return f
}

func isMember(v pyValue) bool {
	_, ok := v.(*pyMember)
	return ok
}

// nested reads Nested(Schema, many=True); false for a schema in itself.
func (p *python) nested(f *Field, c *pyCall, depth int) bool {
	of := c.args[0]
	if fn, ok := of.(*pyFunction); ok { // lambda: Schema()
		of = p.runFunction(fn, nil, &pyCall{of: fn, module: fn.module})
	}
	if s, ok := of.(string); ok {
		if s == "self" {
			return false
		}
		of = p.classNamed(lastName(s))
	}
	if c2, ok := of.(*pyClass); ok && slices.Contains(p.open, c2) {
		return false
	}
	all, _, _ := p.schemaFields(of, depth+1)
	all = p.chosen(all, c)
	many, _ := c.named["many"].(bool)
	if asList, _ := c.named["as_list"].(bool); many || asList || isMany(of) {
		f.Type, f.Items = "array", &Field{Type: "object", Required: true, Fields: all}
	} else {
		f.Fields = all
	}
	return true
}

// classNamed is the one class of a name in the tree.
func (p *python) classNamed(name string) pyValue {
	var found pyValue
	for _, m := range p.sorted() {
		if c, ok := m.scope.vars[name].(*pyClass); ok && c.module == m {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}

// fieldArguments reads what a field says of its values.
func (p *python) fieldArguments(f *Field, c *pyCall) {
	constrain(f, c)
	if v, ok := c.arg(-1, "missing", "load_default", "default"); ok {
		setExample(f, v)
	}
	if v, ok := c.arg(-1, "min", "minimum"); ok {
		f.Min = boundOf(v)
	}
	if v, ok := c.arg(-1, "max", "maximum"); ok {
		f.Max = boundOf(v)
	}
	if names := namesOf(c.named["enum"]); len(names) > 0 {
		f.Enum = names
	}
	if names := namesOf(c.named["choices"]); len(names) > 0 {
		f.Enum = names
	}
	for _, name := range []string{"validate", "validators"} {
		v := c.named[name]
		p.validator(f, v)
		for _, i := range itemsOf(v) {
			p.validator(f, i)
		}
	}
}

func boundOf(v pyValue) *float64 {
	switch x := v.(type) {
	case int64:
		return bound(float64(x))
	case float64:
		return bound(x)
	}
	return nil
}

// validator reads validate.Length(min=1) and its kind.
func (p *python) validator(f *Field, v pyValue) {
	c, ok := v.(*pyCall)
	if !ok {
		if strings.Contains(lastName(nameOf(v)), "Required") {
			f.Required = true
		}
		return
	}
	low, _ := c.arg(0, "min")
	high, _ := c.arg(1, "max")
	switch lastName(nameOf(c.of)) {
	case "Length", "Range", "NumberRange":
		f.Min, f.Max = boundOf(low), boundOf(high)
		if equal, ok := c.named["equal"]; ok {
			f.Min, f.Max = boundOf(equal), boundOf(equal)
		}
	case "OneOf", "AnyOf":
		if len(c.args) > 0 {
			f.Enum = namesOf(c.args[0])
		}
		if len(f.Enum) == 0 {
			f.Enum = namesOf(c.named["choices"])
		}
	case "Regexp":
		if s, ok := c.text(0, "regex"); ok {
			f.Pattern = s
		}
	case "Email":
		f.Format = "email"
	case "URL":
		f.Format = "uri"
	case "DataRequired", "InputRequired":
		f.Required = true
	case "And":
		for _, i := range c.args {
			p.validator(f, i)
		}
	}
}

// columnTypes are types of columns by name.
var columnTypes = map[string][2]string{
	"String": {"string"}, "Text": {"string"}, "Unicode": {"string"}, "UnicodeText": {"string"}, "VARCHAR": {"string"}, "CHAR": {"string"}, "Integer": {"integer"}, "BigInteger": {"integer"}, "SmallInteger": {"integer"}, "INTEGER": {"integer"},
	"Float": {"number"}, "Numeric": {"number"}, "DECIMAL": {"number"}, "Boolean": {"boolean"}, "BOOLEAN": {"boolean"}, "DateTime": {"string", "date-time"}, "TIMESTAMP": {"string", "date-time"}, "Date": {"string", "date"}, "Time": {"string", "time"},
	"UUID": {"string", "uuid"}, "Uuid": {"string", "uuid"}, "JSON": {"object"}, "JSONB": {"object"}, "ARRAY": {"array"}, "Enum": {"string"}, "EmailType": {"string", "email"}, "URLType": {"string", "uri"}, "PasswordType": {"string", "password"},
}

// columns are those of a table that are sent: without its key.
func (p *python) columns(c *pyClass) []Field {
	var out []Field
	for _, name := range assigned(c) {
		v, _ := c.own(name)
		if !isColumn(v) {
			continue
		}
		made := v.(*pyCall)
		if key, _ := made.named["primary_key"].(bool); key {
			continue
		}
		f := Field{Name: name}
		for _, a := range made.args {
			if t, ok := columnTypes[lastName(nameOf(a))]; ok && f.Type == "" {
				f.Type, f.Format = t[0], t[1]
				if of, ok := a.(*pyCall); ok && t[0] == "string" && len(of.args) == 1 {
					f.Max = boundOf(of.args[0])
				}
				if of, ok := a.(*pyCall); ok && lastName(nameOf(of.of)) == "Enum" {
					f.Enum = p.enumOf(of)
				}
			}
		}
		nullable, has := made.named["nullable"].(bool)
		_, otherwise := made.arg(-1, "default", "server_default")
		f.Required = has && !nullable && !otherwise
		out = append(out, f)
	}
	return out
}

func (p *python) enumOf(c *pyCall) []string {
	var out []string
	for _, a := range c.args {
		switch x := a.(type) {
		case string:
			out = append(out, x)
		case *pyClass:
			for _, m := range p.membersOf(x) {
				out = append(out, m.(*pyInstance).attrs["name"].(string))
			}
		}
	}
	return out
}

// formFields are those of a form of WTForms.
func (p *python) formFields(c *pyClass, depth int) []Field {
	var out []Field
	for _, name := range assigned(c) {
		v, _ := c.own(name)
		made, ok := v.(*pyCall)
		if !ok || lastName(nameOf(made.of)) == "SubmitField" {
			continue
		}
		if len(made.args) > 1 && made.named["validators"] == nil {
			made.named["validators"] = made.args[1]
		}
		if f, ok := p.marshmallowField(name, made, nil, depth); ok {
			out = append(out, f)
		}
	}
	return out
}

// fieldsOfDictionary are those of {"name": fields.Str()} or of a JSON schema.
func (p *python) fieldsOfDictionary(d *pyDictionary, depth int) ([]Field, string, bool) {
	if inner, ok := d.get("properties"); ok {
		if _, ok := inner.(*pyDictionary); ok {
			return p.jsonSchema(d, depth).Fields, "", true
		}
	}
	var out []Field
	for i, k := range d.keys {
		name, ok := k.(string)
		if !ok {
			continue
		}
		v := d.values[i]
		if _, isClass := v.(*pyExternal); isClass || isMember(v) {
			v = &pyCall{of: v, named: map[string]pyValue{}}
		}
		if f, ok := p.marshmallowField(name, v, nil, depth); ok {
			out = append(out, f)
		}
	}
	return out, "", len(out) > 0
}

// jsonSchema reads a schema that is written as a dictionary.
func (p *python) jsonSchema(d *pyDictionary, depth int) Field {
	f := Field{}
	if depth > maxNested {
		return f
	}
	text := func(key string) string {
		v, _ := d.get(key)
		s, _ := v.(string)
		return s
	}
	f.Type, f.Format, f.Pattern = text("type"), text("format"), text("pattern")
	v, _ := d.get("enum")
	f.Enum = namesOf(v)
	for _, key := range []string{"minimum", "minLength"} {
		if v, ok := d.get(key); ok {
			f.Min = boundOf(v)
		}
	}
	for _, key := range []string{"maximum", "maxLength"} {
		if v, ok := d.get(key); ok {
			f.Max = boundOf(v)
		}
	}
	required, _ := d.get("required")
	inner, _ := d.get("properties")
	if props, ok := inner.(*pyDictionary); ok {
		for i, k := range props.keys {
			name, _ := k.(string)
			of, ok := props.values[i].(*pyDictionary)
			if name == "" || !ok {
				continue
			}
			g := p.jsonSchema(of, depth+1)
			g.Name, g.Required = name, slices.Contains(namesOf(required), name)
			f.Fields = append(f.Fields, g)
		}
	}
	if v, ok := d.get("items"); ok {
		if of, ok := v.(*pyDictionary); ok {
			g := p.jsonSchema(of, depth+1)
			g.Required = true
			f.Items = &g
		}
	}
	return f
}

// fieldsOfCall are those of api.model("X", {…}), of a parser, and of Schema.from_dict({…}).
func (p *python) fieldsOfCall(c *pyCall, depth int) ([]Field, string, bool) {
	if all, ok := p.parsers[c]; ok {
		var out []Field
		for _, a := range all {
			out = append(out, p.parserField(a))
		}
		return out, "", true
	}
	name := lastName(nameOf(c.of))
	if m, ok := c.of.(*pyMember); ok {
		name = m.name
	}
	title, _ := c.text(0, "name")
	switch name {
	case "model", "inherit", "clone", "extend", "from_dict", "Model", "OrderedModel", "schema_model":
		var out []Field
		for _, a := range append(slices.Clone(c.args), c.named["model"]) {
			all, _, ok := p.schemaFields(a, depth+1)
			if ok {
				for _, f := range all {
					out = replaced(out, f)
				}
			}
		}
		return out, title, len(out) > 0
	case "list": // fields.List
	}
	if of, ok := c.of.(*pyCall); ok { // Schema.from_dict({…})()
		return p.fieldsOfCall(of, depth+1)
	}
	return nil, "", false
}

// parserField is one argument of a RequestParser.
func (p *python) parserField(c *pyCall) Field {
	f := Field{}
	f.Name, _ = c.text(0, "name")
	if t, ok := c.arg(-1, "type"); ok {
		inner := p.typeField(t, 0)
		f.Type, f.Format, f.Min = inner.Type, inner.Format, inner.Min
	} else {
		f.Type = "string"
	}
	f.Required, _ = c.named["required"].(bool)
	if action, _ := c.text(-1, "action"); action == "append" || action == "split" {
		inner := f
		inner.Name, inner.Required = "", true
		f.Type, f.Items = "array", &inner
	}
	p.fieldArguments(&f, c)
	return f
}
