package main

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync"
	"time"
)

// A wire leads to the repositories of a bench through git's daemon, and what
// goes over it takes a while to arrive, either way. So does the greeting that
// opens a connection, which takes one round trip before anything can be said.
//
// It counts the round trips in which somebody here waits for an answer: one for
// every connection, and one for each time that the other side answers what it
// was told since it spoke last. What no clever program can save is
//
//	ls-remote, fetch   one to connect, one for what there is
//	push               the same, and one for the receipt
//
// Version 2 of git's protocol takes one more for what the server is able to do,
// and a fetch one for the pack, which version 0 has with it.
type wire struct {
	b     *bench
	at    net.Listener
	delay time.Duration

	mu                 sync.Mutex
	connections, trips int
}

// wire is the bench's, which is made when it is needed first.
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

// env makes git go over the wire to where it would go by a path.
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

// answer is one connection, with a daemon of its own at the other end.
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

// A parcel is under way.
type parcel struct {
	data []byte
	due  time.Time
}

// carry takes what comes from one end to the other, later by the delay, and
// nothing before the line is open.
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
			for range way { // until its other end has noticed
				continue
			}
			return
		}
	}
}

// turns tell who spoke last on a connection.
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

// traffic is what went over the wire since it was asked last.
func (w *wire) traffic() (connections, trips int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	connections, trips = w.connections, w.trips
	w.connections, w.trips = 0, 0
	return connections, trips
}

func (w *wire) String() string { return fmt.Sprintf("a line of %v each way", w.delay) }
