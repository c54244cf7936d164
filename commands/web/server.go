package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// Options say what is shown and what may be done.
type Options struct {
	Open  func(context.Context) (*Repository, error) // the repository, for one request
	Now   func() time.Time
	Name  string        // of the repository, for the title
	Write bool          // pin, unpin, archive and drop
	Old   time.Duration // checkpoints that are older are marked, 0 for none
}

// A Repository is one request's.
type Repository struct {
	*gitstore.Store
	Judge func(*gitstore.Checkpoint, *checkpoint.Record) (Judged, error)
}

// Limits of the server.
const (
	maxAtOnce = 4                // requests that read the repository
	maxTime   = 30 * time.Second // of one
	maxForm   = 4 << 10          // bytes of a form
	toEnd     = 3 * time.Second  // for requests that are under way at the end
)

// A Server is a page that is being served.
type Server struct {
	listener net.Listener
	http     *http.Server
	token    string
	host     string
}

// Listen begins to listen at an address: a host and a port, or a port alone,
// which is loopback's. Port 0 is any that is free.
func Listen(addr string, o Options) (*Server, error) {
	host, port, err := splitAddr(addr)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, token: rand.Text(), host: host}
	_, at, _ := net.SplitHostPort(l.Addr().String())
	site := newSite(o)
	s.http = &http.Server{
		Handler:           newGuard(s.token, "git-checkpoint-"+at, host, contentPolicy, site.handler()),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      maxTime + 15*time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // what a client did wrong
	}
	return s, nil
}

// splitAddr reads an address; a host that is left out is 127.0.0.1.
func splitAddr(addr string) (host, port string, err error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = ":" + addr
	}
	host, port, err = net.SplitHostPort(addr)
	if err != nil {
		return "", "", fmt.Errorf("%q: want HOST:PORT or PORT", addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", fmt.Errorf("%q: %q is no port", addr, port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return host, port, nil
}

// URL is the address to open, with the token, at a path.
func (s *Server) URL(path string) string {
	at := s.listener.Addr().(*net.TCPAddr)
	host := s.host
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(at.Port)), Path: "/"}
	return u.String() + path + "?" + tokenParam + "=" + s.token
}

// Loopback reports whether only this machine can connect.
func (s *Server) Loopback() bool { return s.listener.Addr().(*net.TCPAddr).IP.IsLoopback() }

// Serve serves until ctx is done, and lets what is under way end then.
func (s *Server) Serve(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- s.http.Serve(s.listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), toEnd)
	defer cancel()
	if err := s.http.Shutdown(end); err != nil {
		_ = s.http.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// IssuePath is where an issue's page is, for URL.
func IssuePath(i checkpoint.Issue) string { return links{}.issue(i)[1:] }
