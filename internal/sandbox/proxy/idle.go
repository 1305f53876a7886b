package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// stamp is when something last moved on a connection, or on the two of a tunnel.
type stamp struct{ at atomic.Int64 }

func newStamp() *stamp {
	s := &stamp{}
	s.touch()
	return s
}

func (s *stamp) touch()              { s.at.Store(time.Now().UnixNano()) }
func (s *stamp) deadline() time.Time { return time.Unix(0, s.at.Load()).Add(idleTimeout) }

// moving is a connection on which reads and writes end with an error when nothing moves
// for idleTimeout.
type moving struct {
	net.Conn
	last *stamp
}

func (m *moving) Read(p []byte) (int, error) { return m.read(m.Conn, p) }

// read waits for longer while the other direction moves.
func (m *moving) read(from io.Reader, p []byte) (int, error) {
	for {
		until := m.last.deadline()
		if err := m.Conn.SetReadDeadline(until); err != nil {
			return 0, err
		}
		n, err := from.Read(p)
		if n > 0 {
			m.last.touch()
		}
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && m.last.deadline().After(until) {
			continue
		}
		return n, err
	}
}

func (m *moving) Write(p []byte) (int, error) {
	m.last.touch()
	if err := m.Conn.SetWriteDeadline(m.last.deadline()); err != nil {
		return 0, err
	}
	return m.Conn.Write(p)
}

// movingReader reads what was read ahead from a connection, and then the connection.
type movingReader struct {
	conn *moving
	from io.Reader
}

func (r *movingReader) Read(p []byte) (int, error) { return r.conn.read(r.from, p) }
