package main

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync"
	"time"
)

// A wire connects to the bench's repositories through git daemon and delays data in both
// directions. Opening a connection also takes one round trip before any data is sent.
//
// A wire counts round trips during which the local process waits: one per connection, and
// one each time the remote answers data sent since its last answer. The minimum that no
// program can avoid is
//
//	ls-remote, fetch   one to connect, one for the refs
//	push               the same, and one for the report
//
// Version 2 of git's protocol needs one more for server capabilities, and a fetch one
// more for the pack. Version 0 needs neither.
type wire struct {
	b     *bench
	at    net.Listener
	delay time.Duration

	mu                 sync.Mutex
	connections, trips int
}

// wire returns the bench's wire, and creates it if it does not exist.
func (b *bench) wire() (*wire, error) {
	if b.line != nil {
		return b.line, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.line = &wire{b: b, at: l, delay: b.delay}
	go b.line.serve()
	return b.line, nil
}

// env returns variables that redirect local paths to the wire.
func (w *wire) env() []string {
	url := "url.git://" + w.at.Addr().String() + "/.insteadOf"
	return []string{
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=" + url, "GIT_CONFIG_VALUE_0=" + w.b.work + "/",
		"GIT_CONFIG_KEY_1=" + url, "GIT_CONFIG_VALUE_1=file://" + w.b.work + "/",
	}
}

func (w *wire) close() { w.at.Close() }

func (w *wire) serve() {
	for {
		conn, err := w.at.Accept()
		if err != nil {
			return
		}
		go w.answer(conn)
	}
}

// answer handles one connection with a separate git daemon process.
func (w *wire) answer(conn net.Conn) {
	defer conn.Close()
	cmd := exec.Command(w.b.git, "daemon", "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+w.b.work)
	cmd.Env = w.b.env
	in, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	t := &turns{w: w}
	t.count(&w.connections)
	t.count(&w.trips)
	open := time.Now().Add(2 * w.delay)
	go func() {
		w.carry(in, conn, open, t.asks)
		in.Close()
	}()
	w.carry(conn, out, open, t.answers)
	_ = cmd.Wait()
}

// A parcel is delayed data.
type parcel struct {
	data []byte
	due  time.Time
}

// carry copies data with a delay, and sends no data before the connection is open.
func (w *wire) carry(to io.Writer, from io.Reader, open time.Time, note func()) {
	way := make(chan parcel, 1<<10)
	go func() {
		defer close(way)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if n > 0 {
				note()
				sent := time.Now()
				if sent.Before(open) {
					sent = open
				}
				way <- parcel{data[:n], sent.Add(w.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			for range way { // drain until the reader ends
				continue
			}
			return
		}
	}
}

// turns records which end of a connection sent last.
type turns struct {
	w     *wire
	asked bool
}

func (t *turns) count(n *int) {
	t.w.mu.Lock()
	*n++
	t.w.mu.Unlock()
}

func (t *turns) asks() {
	t.w.mu.Lock()
	t.asked = true
	t.w.mu.Unlock()
}

func (t *turns) answers() {
	t.w.mu.Lock()
	if t.asked {
		t.w.trips++
	}
	t.asked = false
	t.w.mu.Unlock()
}

// traffic returns connections and round trips since its last call.
func (w *wire) traffic() (connections, trips int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	connections, trips = w.connections, w.trips
	w.connections, w.trips = 0, 0
	return connections, trips
}

func (w *wire) String() string { return fmt.Sprintf("a line of %v each way", w.delay) }
