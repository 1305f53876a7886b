package fleet

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Server is a NATS server in this process.
type Server struct {
	*server.Server
	secret string // of the coordinator
}

// workerName is who workers are at the server.
const workerName = "worker"

// Serve starts a server that keeps its streams in dir, and listens at address (HOST:PORT, or :PORT for all
// interfaces). Workers have the token; t is nil for a network that is trusted.
func Serve(dir, address, token string, t *tls.Config) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%s is not HOST:PORT: %w", address, err)
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 0 || n > 65535 {
		return nil, fmt.Errorf("%s: %q is not a port", address, port)
	}
	if n == 0 {
		n = server.RANDOM_PORT
	}
	// An address in use is said before the server starts, which would end the process.
	if l, err := net.Listen("tcp", address); err != nil {
		return nil, err
	} else if err := l.Close(); err != nil {
		return nil, err
	}
	s := &Server{secret: rand.Text()}
	options := &server.Options{
		Host: host, Port: n, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, TLSConfig: t, TLS: t != nil, TLSTimeout: 5,
		SyncInterval: time.Second, // of 2 minutes: a power cut loses less; what is lost is sent again
		PingInterval: 5 * time.Second, MaxPingsOut: 2,
		Users: []*server.User{
			{Username: coordinatorName, Password: s.secret},
			{Username: workerName, Password: token, Permissions: workerMay()},
		},
	}
	if s.Server, err = server.NewServer(options); err != nil {
		return nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, errors.New("the NATS server does not start")
	}
	return s, nil
}

const coordinatorName = "coordinator"

// workerMay is all that a worker needs: to take tasks, to say that it has them, to report, and to ask.
func workerMay() *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			"$JS.API.CONSUMER.MSG.NEXT." + tasks + "." + takers, "$JS.API.CONSUMER.INFO." + tasks + "." + takers,
			"$JS.ACK." + tasks + "." + takers + ".>", reportSubject + "*", askSubject + "*", beatSubject,
		}},
		Subscribe: &server.SubjectPermission{Allow: []string{inboxes + ".>", overSubject}},
	}
}

// inboxes is where a worker gets answers.
const inboxes = "_INBOX_worker"

// Own is the URL by which the coordinator connects to its own server, with Options: through memory, so without TLS.
const Own = "nats://localhost"

// Options connect the coordinator to its own server.
func (s *Server) Options() []nats.Option {
	return []nats.Option{nats.InProcessServer(s.Server), nats.UserInfo(coordinatorName, s.secret)}
}

// URL is where workers find the server: by this machine's name where it listens at all interfaces.
func (s *Server) URL() string {
	url := s.ClientURL()
	if host, err := os.Hostname(); err == nil {
		url = strings.NewReplacer("//0.0.0.0:", "//"+host+":", "//[::]:", "//"+host+":").Replace(url)
	}
	return url
}

// Close stops the server.
func (s *Server) Close() {
	s.Shutdown()
	s.WaitForShutdown()
}
