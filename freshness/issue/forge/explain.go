package forge

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A RequestError describes a failed request in one line. The text is written here and
// never quotes the server, whose output is untrusted, except names of scopes.
type RequestError struct {
	Host  string
	Cause string
	Until time.Time // end of a rate limit, zero if unknown
	err   error
}

func (e *RequestError) Error() string { return e.Host + ": " + e.Cause }

// Unwrap returns the context's error after a timeout.
func (e *RequestError) Unwrap() error { return e.err }

func (f *Forge) failed(format string, args ...any) *RequestError {
	return &RequestError{Host: f.Site.Host(), Cause: fmt.Sprintf(format, args...)}
}

// unreachable converts a network error. Error texts of net/http contain the URL, and
// possibly output of a proxy, so they are not shown.
func (f *Forge) unreachable(ctx context.Context, err error) error {
	var (
		elsewhere errElsewhere
		dns       *net.DNSError
		cert      *tls.CertificateVerificationError
		unknown   x509.UnknownAuthorityError
		record    tls.RecordHeaderError
		slow      net.Error
	)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	e := f.failed("the connection failed")
	text := err.Error()
	if u := (*url.Error)(nil); errors.As(err, &u) {
		text = u.Err.Error() // without the URL
	}
	switch {
	case errors.As(err, &elsewhere):
		server := elsewhere.server
		scheme, host, _ := strings.Cut(server, "://")
		if scheme != "https" && scheme != "http" || !plainHost(strings.ToLower(host)) || len(host) > 255 {
			server = strconv.QuoteToASCII(server[:min(len(server), 64)])
		}
		e.Cause = "redirects to another server, " + server + ", which is not followed"
	case errors.Is(err, errHops):
		e.Cause = "redirects in circles"
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		e.Cause, e.err = "timeout", context.DeadlineExceeded
	case errors.As(err, &dns):
		e.Cause = "could not resolve the host name"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Cause = "cannot be reached: connection refused"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		e.Cause = "cannot be reached: no network"
	case errors.As(err, &cert), errors.As(err, &unknown):
		e.Cause = "its certificate cannot be verified"
	case errors.As(err, &record), strings.Contains(text, "HTTP response to HTTPS"):
		e.Cause = "does not speak TLS"
	case strings.Contains(text, "malformed HTTP"):
		e.Cause = "the answer is not HTTP"
	case strings.Contains(text, "headers exceeded"):
		e.Cause = "the headers of its answer are too large"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Cause = "closed the connection before the end of the answer"
	}
	return e
}

// refused converts a response with an error status to a request to read or change something.
func (f *Forge) refused(r *reply, c Credential, verb, what string) *RequestError {
	if until, limited := f.limit(r); limited {
		return f.limited(until, c)
	}
	project := f.Site.Project
	status := r.status
	if status == http.StatusNotFound && verb == "change" {
		status = http.StatusForbidden // the issue was read before, so GitHub hides the reason
	}
	switch status {
	case http.StatusUnauthorized:
		return f.failed("%s (401)", tokenText(c, "wants a token: "+dialects()[f.Site.Kind].advice, "does not accept "+c.From))
	case http.StatusForbidden:
		about := tokenText(c, "it takes a token", c.From+" is not allowed")
		return f.failed("%s to %s %s of %s (%d)%s", about, verb, what, project, r.status, jobToken(c)+missingScope(r))
	case http.StatusNotFound:
		about := tokenText(c, "a token is required: "+dialects()[f.Site.Kind].advice, c.From+" may not see it")
		return f.failed("there is no %s in %s, or %s (404)%s", what, project, about, jobToken(c))
	case http.StatusGone:
		return f.failed("%s was deleted, or %s has its issues elsewhere (410)", what, project)
	case http.StatusProxyAuthRequired:
		return f.failed("the proxy requires a password (407)")
	}
	switch {
	case r.status >= 300 && r.status < 400:
		return f.failed("redirects without a target (%d)", r.status)
	case r.status >= 500:
		return f.failed("has an internal error (%d)", r.status)
	}
	return f.failed("does not let anyone %s %s (%d)", verb, what, r.status)
}

// requiredScopes matches the scopes in an error of Gitea.
var requiredScopes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`required=\[((?:read|write):[a-z]{1,16}(?: (?:read|write):[a-z]{1,16}){0,3})\]`)
})

// missingScope returns advice if the response names the scopes that the token needs. No
// other text of the response is shown.
func missingScope(r *reply) string {
	if m := requiredScopes().FindSubmatch(r.body); m != nil {
		return "; the token needs the scope " + string(m[1])
	}
	return ""
}

// limited returns a rate limit error with its end time.
func (f *Forge) limited(until time.Time, c Credential) *RequestError {
	text := "its rate limit is reached"
	if !until.IsZero() {
		text += until.UTC().Format(" until 15:04:05 UTC")
	}
	if c.IsZero() {
		text += "; with a token it is higher: " + dialects()[f.Site.Kind].advice
	}
	e := f.failed("%s", text)
	e.Until = until
	return e
}

// limit parses rate limit headers. GitHub sends 403 or 429 with x-ratelimit-*, and GitLab
// sends 429 with RateLimit-*. All forges may send Retry-After.
func (f *Forge) limit(r *reply) (until time.Time, limited bool) {
	if r.status != http.StatusForbidden && r.status != http.StatusTooManyRequests {
		return time.Time{}, false
	}
	now := f.Now()
	if seconds, err := strconv.Atoi(r.header.Get("Retry-After")); err == nil && seconds >= 0 {
		return bounded(now.Add(time.Duration(min(seconds, 1<<20))*time.Second), now), true
	}
	for _, prefix := range []string{"X-Ratelimit-", "Ratelimit-"} {
		if r.header.Get(prefix+"Remaining") != "0" {
			continue
		}
		at, err := strconv.ParseInt(r.header.Get(prefix+"Reset"), 10, 64)
		if err != nil {
			return time.Time{}, true
		}
		return bounded(time.Unix(at, 0), now), true
	}
	return time.Time{}, r.status == http.StatusTooManyRequests || bytes.Contains(bytes.ToLower(r.body), []byte("rate limit"))
}

// bounded returns a zero time if a rate limit ends in the past or after more than 24
// hours.
func bounded(until, now time.Time) time.Time {
	if until.Before(now) || until.After(now.Add(24*time.Hour)) {
		return time.Time{}
	}
	return until
}

// tokenText returns the text for a request without a token, or with one.
func tokenText(c Credential, without, with string) string {
	if c.IsZero() {
		return without
	}
	return with
}

func jobToken(c Credential) string {
	if c.From == "CI_JOB_TOKEN" {
		return "; a job's token cannot read issues, GITLAB_TOKEN can"
	}
	return ""
}
