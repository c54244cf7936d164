package guard

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// exitTempFail is EX_TEMPFAIL of sysexits.h: "try again later".
const exitTempFail = 75

// tailSize is how much of the end of standard error is looked at.
const tailSize = 16 << 10

// A tail passes what is written on and keeps the end of it.
type tail struct {
	to   io.Writer
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	if t.kept = append(t.kept, p...); len(t.kept) > 2*tailSize {
		t.kept = append([]byte(nil), t.kept[len(t.kept)-tailSize:]...)
	}
	t.mu.Unlock()
	return t.to.Write(p)
}

// lines are the last lines, the newest first.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := bytes.TrimSpace(t.kept[max(0, len(t.kept)-tailSize):])
	lines := strings.Split(string(kept), "\n")
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// transient says why a failure of the command will pass, "" where nothing
// shows that it will: the exit code for it, or one of the last lines on its
// standard error. At a terminal that is the command's own, and nobody reads
// along.
func (g *Guard) transient(code int) string {
	if code == exitTempFail {
		return fmt.Sprintf("exit code %d, a temporary failure", code)
	}
	if g.tail == nil || code > 128 {
		return ""
	}
	return transientLine(g.tail.lines())
}

// lastLines is how many lines from the end may name the cause.
const lastLines = 20

// transientLine finds a line that speaks of the network or of a limit.
func transientLine(lines []string) string {
	for _, line := range lines[:min(lastLines, len(lines))] {
		lower := strings.ToLower(line)
		for _, sign := range transientSigns {
			if strings.Contains(lower, sign) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// transientSigns are what programs print, in lower case, when the network or a
// service fails for a while.
var transientSigns = []string{
	"429 too many requests", "too many requests", "error 429", "status 429", "http 429", "rate limit", "rate_limit", "overloaded",
	"502 bad gateway", "bad gateway", "503 service unavailable", "service unavailable", "504 gateway timeout", "gateway timeout",
	"gateway time-out", "http 502", "http 503", "http 504", "error: 502", "error: 503", "error: 504",
	"connection reset", "connection refused", "connection timed out", "operation timed out", "i/o timeout", "tls handshake timeout",
	"network is unreachable", "no route to host", "could not resolve host", "temporary failure in name resolution",
	"econnreset", "econnrefused", "etimedout", "eai_again", "socket hang up", "broken pipe", "unexpected disconnect",
	"the remote end hung up unexpectedly", "early eof",
}

// maxWait bounds one wait.
const maxWait = 5 * time.Minute

// backoff is the wait before a retry, which count from 0.
func backoff(first time.Duration, retry int) time.Duration {
	wait := first
	for range retry {
		if wait *= 2; wait >= maxWait {
			return maxWait
		}
	}
	return min(wait, max(first, maxWait))
}
