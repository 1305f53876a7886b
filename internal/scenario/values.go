package scenario

import (
	"encoding/json"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/routes"
)

// identity is one user in all that is sent.
type identity struct {
	user, email, password string
}

const (
	password    = "Passw0rd!x1"
	newPassword = "N3wPassw0rd!x1"
)

func (o Options) identity(n int) identity {
	name := o.Name + strconv.Itoa(n)
	return identity{user: name, email: name + "@example.com", password: password}
}

// seeded is the identity of a user that the service has from its start.
func (o Options) seeded() identity {
	i := identity{user: o.Login.User, email: o.Login.User, password: o.Login.Password}
	if !strings.Contains(i.email, "@") {
		i.email = i.user + "@example.com"
	}
	return i
}

// words are values by the plain name of a field; the second is what an update sends.
var words = map[string][2]string{
	"name": {"First name", "Second name"}, "firstname": {"Casey", "Robin"}, "lastname": {"Stone", "Rivers"},
	"fullname": {"Casey Stone", "Robin Rivers"}, "displayname": {"Casey Stone", "Robin Rivers"}, "nickname": {"Case", "Rob"},
	"title": {"First title", "Second title"}, "subject": {"First subject", "Second subject"}, "label": {"First label", "Second label"},
	"description": {"A short description", "Another description"}, "summary": {"A short summary", "Another summary"},
	"body": {"Some body text", "Other body text"}, "content": {"Some content", "Other content"}, "text": {"Some text", "Other text"},
	"message": {"Some message", "Other message"}, "comment": {"Some comment", "Other comment"}, "note": {"Some note", "Other note"},
	"bio": {"About me", "More about me"}, "aboutme": {"About me", "More about me"}, "about": {"About me", "More about me"},
	"image": {"https://example.com/a.png", "https://example.com/b.png"}, "avatar": {"https://example.com/a.png", "https://example.com/b.png"},
	"picture": {"https://example.com/a.png", "https://example.com/b.png"}, "photo": {"https://example.com/a.png", "https://example.com/b.png"},
	"url": {"https://example.com/first", "https://example.com/second"}, "link": {"https://example.com/first", "https://example.com/second"},
	"website": {"https://example.com/first", "https://example.com/second"}, "uri": {"https://example.com/first", "https://example.com/second"},
	"phone": {"6085551023", "6085551024"}, "telephone": {"6085551023", "6085551024"}, "mobile": {"6085551023", "6085551024"},
	"phonenumber": {"6085551023", "6085551024"}, "address": {"1 Main St", "2 Main St"}, "street": {"1 Main St", "2 Main St"},
	"city": {"Madison", "Salem"}, "country": {"Norway", "Chile"}, "state": {"active", "active"}, "zip": {"53703", "53704"},
	"zipcode": {"53703", "53704"}, "postcode": {"53703", "53704"}, "postalcode": {"53703", "53704"}, "slug": {"first-title", "second-title"},
	"date": {"2024-03-05", "2024-04-06"}, "birthdate": {"1990-03-05", "1990-04-06"}, "birthday": {"1990-03-05", "1990-04-06"},
	"duedate": {"2030-03-05T10:00:00Z", "2030-04-06T10:00:00Z"}, "color": {"red", "blue"}, "colour": {"red", "blue"},
	"category": {"general", "special"}, "type": {"basic", "special"}, "kind": {"basic", "special"}, "status": {"active", "active"},
	"language": {"en", "fr"}, "locale": {"en", "fr"}, "currency": {"EUR", "USD"}, "timezone": {"UTC", "UTC"}, "author": {"Casey Stone", "Robin Rivers"},
	"isbn": {"9780306406157", "9780131103627"}, "code": {"AB12", "CD34"}, "tag": {"alpha", "beta"}, "company": {"Example Ltd", "Sample Ltd"},
	"granttype": {"password", "password"}, "role": {"user", "user"}, "gender": {"female", "male"}, "sex": {"female", "male"},
}

var (
	emailWord   = lazyregexp.New(`e?mail$|^email`)
	userWord    = lazyregexp.New(`^(username|user|login|loginname|handle|identifier|nick|accountname)$`)
	newPassWord = lazyregexp.New(`^(new|changed)pass(word|wd)?|pass(word)?new$`)
	passWord    = lazyregexp.New(`pass(word|wd|code)?[12]?$|^pwd$|^pass(word)?|secret$`)
	// serverWord are fields that a service fills itself, and takes from nobody.
	serverWord = lazyregexp.New(`^(created|updated|deleted|modified|lastmodified)(at|on|by|date|time)?$|^token$|^slug$`)
	boolWord   = lazyregexp.New(`^(is|has|can|should|allow|enable)[a-z]+|^(done|completed|complete|finished|active|enabled|published|public|private|archived|favorited|checked|read|available|draft|pinned)$`)
	numberWord = lazyregexp.New(`(count|quantity|qty|amount|price|age|year|rating|score|stock|total|priority|size|weight|height|width|cost|limit|offset|pages?|number|order|position|duration|minutes|hours|lat|lng|latitude|longitude)$`)
	listWord   = lazyregexp.New(`list$|^(tags|labels|categories|roles|keywords|topics|genres)$`)
	dateWord   = lazyregexp.New(`date$|^(date|birthday|dob)`)
	timeWord   = lazyregexp.New(`(at|time|timestamp|deadline|expires|until|since)$`)
	urlWord    = lazyregexp.New(`(url|uri|link|website|homepage)$`)
)

// identityValue is the value of a field that says who somebody is; login is the form of a
// login, in which a user name may be wanted as an e-mail address.
func identityValue(name string, who identity, asEmail bool) (string, bool) {
	k := plain(name)
	switch {
	case newPassWord.MatchString(k):
		return newPassword, true
	case passWord.MatchString(k) && !strings.Contains(k, "token") && !strings.HasPrefix(k, "client"):
		return who.password, true
	case emailWord.MatchString(k):
		return who.email, true
	case userWord.MatchString(k):
		if asEmail {
			return who.email, true
		}
		return who.user, true
	}
	return "", false
}

// wellKnown reports whether a name has a value of its own: an optional field of another name
// is left out.
func wellKnown(name string) bool {
	k := plain(name)
	_, ok := words[k]
	_, who := identityValue(name, identity{}, false)
	return ok || who || boolWord.MatchString(k) || listWord.MatchString(k) || urlWord.MatchString(k)
}

// sample is a value for a field, by its type, format, bounds and name. second is that of an
// update.
func sample(f routes.Field, second bool) any {
	if len(f.Enum) > 0 {
		v := f.Enum[0]
		if second && len(f.Enum) > 1 {
			v = f.Enum[1]
		}
		return typed(v, f.Type)
	}
	k := plain(f.Name)
	switch f.Type {
	case "integer", "number":
		return number(f, second)
	case "boolean":
		return second || !strings.HasPrefix(k, "is")
	case "object":
		return map[string]any{}
	case "array":
		return list(f, second)
	case "":
		switch {
		case listWord.MatchString(k):
			return list(f, second)
		case f.Format == "" && boolWord.MatchString(k):
			return true
		case f.Format == "" && words[k] == [2]string{} && (numberWord.MatchString(k) || k == "id" || strings.HasSuffix(strings.ToLower(f.Name), "_id") || strings.HasSuffix(f.Name, "Id")):
			return number(f, second)
		}
	}
	return fit(text(f, second), f)
}

func list(f routes.Field, second bool) any {
	if f.Items != nil {
		item := *f.Items
		if item.Name == "" {
			item.Name = singular(strings.TrimSuffix(f.Name, "List"))
		}
		return []any{sample(item, second)}
	}
	if listWord.MatchString(plain(f.Name)) {
		return []any{pick(words["tag"], second)}
	}
	return []any{}
}

func pick(v [2]string, second bool) string {
	if second {
		return v[1]
	}
	return v[0]
}

func typed(v, typ string) any {
	switch typ {
	case "integer", "number":
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			return json.Number(v)
		}
	case "boolean":
		if b, err := strconv.ParseBool(v); err == nil {
			return b
		}
	}
	return v
}

func number(f routes.Field, second bool) any {
	v := 1.0
	if strings.HasSuffix(plain(f.Name), "year") {
		v = 2020
	}
	if second {
		v++
	}
	if f.Min != nil && v < *f.Min {
		v = math.Ceil(*f.Min) + 1
	}
	if f.Max != nil && v > *f.Max {
		v = math.Floor(*f.Max)
	}
	if f.Type == "number" && v == math.Trunc(v) && (f.Max == nil || v+0.5 <= *f.Max) && strings.Contains(plain(f.Name), "price") {
		v += 0.5
	}
	return json.Number(strconv.FormatFloat(v, 'f', -1, 64))
}

func text(f routes.Field, second bool) string {
	switch f.Format {
	case "date":
		return pick(words["date"], second)
	case "date-time", "datetime":
		return pick([2]string{"2024-03-05T10:00:00Z", "2024-04-06T10:00:00Z"}, second)
	case "time":
		return "10:00:00"
	case "uuid":
		return pick([2]string{"11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"}, second)
	case "uri", "url":
		return pick(words["url"], second)
	case "email":
		return "casey@example.com"
	case "ipv4":
		return "192.0.2.1"
	}
	k := plain(f.Name)
	if w, ok := words[k]; ok {
		return pick(w, second)
	}
	switch {
	case urlWord.MatchString(k):
		return pick(words["url"], second)
	case dateWord.MatchString(k):
		return pick(words["date"], second)
	case f.Type == "" && timeWord.MatchString(k) && len(k) > 4:
		return pick([2]string{"2024-03-05T10:00:00Z", "2024-04-06T10:00:00Z"}, second)
	}
	if x := lastWord.FindStringSubmatch(f.Name); x != nil {
		if w, ok := words[plain(x[1]+x[2])]; ok {
			return pick(w, second)
		}
	}
	for _, suffix := range [...]string{"name", "title", "description", "content", "image", "phone", "tag"} {
		if strings.HasSuffix(k, suffix) {
			return pick(words[suffix], second)
		}
	}
	return pick([2]string{"text", "other text"}, second)
}

var lastWord = lazyregexp.New(`[_-]([A-Za-z0-9]+)$|[a-z0-9]([A-Z][a-z0-9]+)$`) // of user_role or userRole

const maxText = 4096

// fit makes a text keep to the pattern and the length of a field.
func fit(v string, f routes.Field) string {
	if f.Pattern != "" {
		if re, err := regexp.Compile(f.Pattern); err == nil && !re.MatchString(v) {
			if tight := strings.ReplaceAll(v, " ", ""); re.MatchString(tight) {
				v = tight
			} else if made, ok := matching(f.Pattern); ok && re.MatchString(made) {
				v = made
			}
		}
	}
	if f.Format != "" && f.Format != "password" {
		return v
	}
	if f.Max != nil && *f.Max >= 0 && float64(len(v)) > *f.Max {
		v = strings.TrimRight(v[:int(*f.Max)], " ")
	}
	if f.Min != nil && *f.Min <= maxText && float64(len(v)) < *f.Min {
		v += strings.Repeat("x", int(*f.Min)-len(v))
	}
	return v
}

// matching is a short text that a pattern matches, where the pattern is simple.
func matching(pattern string) (string, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if !generate(&b, re.Simplify(), 0) {
		return "", false
	}
	return b.String(), true
}

func generate(b *strings.Builder, re *syntax.Regexp, depth int) bool {
	if depth > 32 || b.Len() > 256 {
		return false
	}
	each := func(subs []*syntax.Regexp) bool {
		for _, s := range subs {
			if !generate(b, s, depth+1) {
				return false
			}
		}
		return true
	}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpQuest, syntax.OpStar:
		return true
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
		return true
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return false
		}
		b.WriteRune(friendly(re.Rune))
		return true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
		return true
	case syntax.OpCapture, syntax.OpConcat, syntax.OpPlus:
		return each(re.Sub)
	case syntax.OpAlternate:
		return each(re.Sub[:1])
	case syntax.OpRepeat:
		for range min(re.Min, 64) {
			if !each(re.Sub) {
				return false
			}
		}
		return true
	}
	return false
}

// friendly is a letter or digit of a class of runes, or its first rune.
func friendly(class []rune) rune {
	for _, want := range "aA1" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= want && want <= class[i+1] {
				return want
			}
		}
	}
	return class[0]
}

// What has these identifiers is not there.
const (
	absentUUID   = "00000000-0000-4000-8000-000000000000"
	absentNumber = json.Number("999999")
)

// absent is a value that nothing has, of the kind that a value is of.
func absent(v any, f routes.Field) any {
	s := contract.Text(v)
	switch {
	case f.Format == "uuid" || uuidForm.MatchString(s):
		return absentUUID
	case f.Type == "integer" || f.Type == "number" || digits.MatchString(s):
		return absentNumber
	case strings.Contains(s, "@"):
		return "nobody@example.com"
	}
	return "does-not-exist"
}

var (
	uuidForm = lazyregexp.New(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	digits   = lazyregexp.New(`^[0-9]+$`)
)
