package serve

import (
	_ "embed"

	"github.com/benchmint/benchmint/schemas"
)

// smtp is a sink: no mail leaves it, and the scenario of a service may read them (contract.Mail).
var smtp = engine{
	kind: schemas.BrokerSMTP, title: "a mail server that takes every mail", packages: []string{"openssl", "python3"}, port: schemas.SMTPPort, more: []int{25, 465, 587, 2525, schemas.MailPort},
	find: findSMTP, make: makeSMTP, start: startSMTP, stop: stopSMTP,
}

//go:embed smtp.py
var smtpProgram string

// mailFolder holds the program, and the certificate that its clients trust.
const mailFolder = home + "/mail"

// trust are the variables by which clients trust a certificate of ours: nothing else is reached by TLS.
var trust = map[string]string{"SSL_CERT_FILE": mailFolder + "/cert.pem", "NODE_EXTRA_CA_CERTS": mailFolder + "/cert.pem"}

const findSMTP = `data=` + mailFolder + `
log=/tmp/mail.log
pid=$data/server.pid
`

// startSMTP starts the sink apart from the shell, which becomes the service.
const startSMTP = `setsid --fork bash -c 'echo $$ >"$1"; exec /usr/bin/python3 -I "$2/smtp.py" "$2"' mail "$pid" "$data" </dev/null >"$log" 2>&1
tries=0
until (exec 9<>/dev/tcp/127.0.0.1/1080) 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 600 ] || { cat "$log" >&2; exit 1; }
  sleep 0.1
done
`

var makeSMTP = `mkdir -p "$data"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 7300 -keyout "$data/key.pem" -out "$data/cert.pem" \
  -config /dev/stdin >"$log" 2>&1 <<'CONF' || { cat "$log" >&2; exit 1; }
[req]
prompt = no
distinguished_name = name
x509_extensions = for
[name]
CN = localhost
[for]
basicConstraints = critical, CA:TRUE
subjectAltName = DNS:localhost, IP:127.0.0.1
CONF
cat >"$data/smtp.py" <<'PROGRAM'
` + smtpProgram + `PROGRAM
` + startSMTP

const stopSMTP = `kill "$(cat "$pid")"
while kill -0 "$(cat "$pid")" 2>/dev/null; do sleep 0.05; done
rm "$pid"
`
