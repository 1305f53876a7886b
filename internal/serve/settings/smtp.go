package settings

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// smtpDialect is that of a mail server. Variables that say from whom and to whom mails are, and where their links lead, are about
// something else.
var smtpDialect = &dialect{
	kind: SMTPName, port: schemas.SMTPPort, more: []int{25, 465, 587, 2525}, scheme: "smtp", images: []string{"mailhog", "mailpit", "mailcatcher", "maildev", "smtp4dev"},
	names:  lazyregexp.New(`(?i)(?:^|_)(?:SMTP|E?MAIL(?:ER)?)(?:_\w+)?_?(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS|PORT|USER|USERNAME|LOGIN|PASSWORD|PASS|PASSWD|PWD|URL|URI|DSN)$`),
	others: lazyregexp.New(`(?i)FROM|SENDER|REPLY|ADMIN|SUPPORT|CONTACT|MAIL_?ADDR|VERIF|CONFIRM|RESET|LOGIN_|LINK|FRONT|API|IMAP|POP3?|TEMPLATE|USER_E?MAIL|WEB|BASE`),
	fit:    fitSMTP, plain: same,
	dsn: func(s Store) string { return s.URL("smtp") },
}

// fitSMTP gives all of a URL that ours needs: it takes any credentials.
func fitSMTP(s Store, _ string) (string, bool) { return "smtp://" + s.address(), true }

// MailFrom is what a variable says of who sends the mails of a service, by its name; "" of others.
func MailFrom(name string) string {
	switch {
	case !mailFrom.MatchString(name) || forTests.MatchString(name):
		return ""
	case strings.HasSuffix(strings.ToUpper(name), "NAME"):
		return "Service"
	}
	return sender
}

// sender is who sends the mails of a service that names nobody.
const sender = "service@example.com"

var mailFrom = lazyregexp.New(`(?i)(?:^|_)(?:SMTP|E?MAILS?(?:ER)?)_(?:\w+_)?(?:FROM|SENDER)(?:_(?:ADDR|ADDRESS|EMAIL|MAIL|NAME))?$|(?:^|_)(?:FROM|SENDER)_(?:EMAIL|MAIL)$`)

// MailServer reports whether a variable says where the mail server of a service is, by its name.
func MailServer(name string) bool {
	value, _, ok := Broker([]string{SMTPName}, name)
	return ok && strings.Contains(value, Loopback)
}
