package guard

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// exitTempFail is EX_TEMPFAIL in sysexits.h: "try again later".
const exitTempFail = 75

// tailSize is the number of inspected bytes at the end of standard error.
const tailSize = 16 << 10

// A tail is a writer that forwards output and buffers its end.
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

// lines returns the buffered lines, newest first.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := bytes.TrimSpace(t.kept[max(0, len(t.kept)-tailSize):])
	lines := strings.Split(string(kept), "\n")
	slices.Reverse(lines)
	return lines
}

// transient returns the reason why a failure counts as transient, or "". The reason is an
// exit code or one of the last lines on standard error. Standard error is not captured if
// it is a terminal, because the command then writes to the terminal directly.
func (g *Guard) transient(code int) string {
	if code == exitTempFail {
		return fmt.Sprintf("exit code %d, a temporary failure", code)
	}
	if g.tail == nil || code > 128 {
		return ""
	}
	return transientLine(g.tail.lines())
}

// lastLines is the number of inspected lines at the end.
const lastLines = 20

// transientLine returns the newest line that mentions a network failure or a rate limit,
// or "".
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

// transientSigns lists lower-case messages of programs for temporary network or service
// failures.
var transientSigns = []string{
	"429 too many requests", "too many requests", "error 429", "status 429", "http 429", "rate limit", "rate_limit", "overloaded",
	"502 bad gateway", "bad gateway", "503 service unavailable", "service unavailable", "504 gateway timeout", "gateway timeout",
	"gateway time-out", "http 502", "http 503", "http 504", "error: 502", "error: 503", "error: 504",
	"connection reset", "connection refused", "connection timed out", "operation timed out", "i/o timeout", "tls handshake timeout",
	"network is unreachable", "no route to host", "could not resolve host", "temporary failure in name resolution",
	"econnreset", "econnrefused", "etimedout", "eai_again", "socket hang up", "broken pipe", "unexpected disconnect",
	"the remote end hung up unexpectedly", "early eof",
}

// maxWait limits one delay before a retry.
const maxWait = 5 * time.Minute

// backoff returns the delay before a retry; retries count from 0.
func backoff(first time.Duration, retry int) time.Duration {
	wait := first
	for range retry {
		if wait *= 2; wait >= maxWait {
			return maxWait
		}
	}
	return min(wait, max(first, maxWait))
}
