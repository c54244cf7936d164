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

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// Options holds data sources and permissions of the page.
type Options struct {
	Open  func(context.Context) (*Repository, error) // opens the repository for one request
	Now   func() time.Time
	Name  string // name of the repository, for titles
	Write bool   // permits changes
}

// A Repository is the open repository of one request.
type Repository struct {
	*gitstore.Store
	Judge    func(*gitstore.Checkpoint, *checkpoint.Record) (*view.Standing, error)
	NotSaved func(*gitstore.Checkpoint) (int, error) // number of files that changed since
	Agent    func(session string) string             // agent of a session, or ""
	Detached func() string                           // branch of a detached HEAD as CI names it, or ""
	Beside   func(*view.Standing)                    // adds what status shows beside the verdict
	Forge    Forge
	Mirror   func() // updates the files of a mirrored layout after a change
}

// Limits of the server.
const (
	maxAtOnce = 4                // concurrent requests that read the repository
	maxTime   = 30 * time.Second // time per request
	maxForm   = 4 << 10          // bytes per form
	toEnd     = 3 * time.Second  // time for running requests at shutdown
)

// A Server serves the page.
type Server struct {
	listener net.Listener
	http     *http.Server
	token    string
	host     string
}

// Listen listens on an address: host and port, or only a port on loopback. Port 0 selects
// any free port.
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
		ErrorLog:          log.New(io.Discard, "", 0), // discards errors caused by clients
	}
	return s, nil
}

// splitAddr splits an address; the default host is 127.0.0.1.
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

// URL returns the URL of a path, including the token.
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

// Serve serves until ctx ends, then waits for running requests.
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
