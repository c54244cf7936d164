package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"git-checkpoint/freshness/issue"
)

// A Forge sends requests to one site. With zero fields it uses no credential, no cache,
// and the system clock.
type Forge struct {
	Site   Site
	SignIn SignIn
	Cache  string // cache directory of this repository, created on first use
	Now    func() time.Time
	Agent  string // User-Agent header

	Network func(context.Context) Network // network settings for the server; nil means defaults
}

const (
	maxHops    = 5
	maxHeaders = 64 << 10
	maxRefusal = 4 << 10 // limit for bodies of error responses, in bytes
)

// A reply is a response with its body read up to a limit.
type reply struct {
	url    *url.URL // final URL after redirects
	status int
	header http.Header
	body   []byte
	whole  bool // the body is complete
}

func (f *Forge) now() time.Time {
	if f.Now == nil {
		return time.Now()
	}
	return f.Now()
}

// send sends one request. It returns a *RequestError, or the context's error if the
// caller canceled.
func (f *Forge) send(ctx context.Context, req *http.Request, c Credential) (*reply, error) {
	req.Header.Set("User-Agent", cmp.Or(f.Agent, "git-checkpoint"))
	req.Header.Set("Accept", "application/json")
	if f.Site.Kind == GitHub {
		req.Header.Set("Accept", "application/vnd.github+json")
		req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	}
	if !c.IsZero() {
		req.Header.Set(c.header, c.secret)
	}
	var network Network
	if f.Network != nil {
		network = f.Network(ctx)
	}
	transport, err := network.transport()
	if err != nil {
		return nil, f.failed("cannot be asked: %v", err)
	}
	client := &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	answer, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, f.unreachable(ctx, err)
	}
	defer answer.Body.Close()
	return f.receive(ctx, answer)
}

// receive reads the response body up to a limit.
func (f *Forge) receive(ctx context.Context, answer *http.Response) (*reply, error) {
	r := &reply{url: answer.Request.URL, status: answer.StatusCode, header: answer.Header, whole: true}
	limit := int64(maxRefusal)
	if r.ok() {
		limit = issue.MaxBytes
	}
	var err error
	r.body, err = io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err != nil && r.ok() {
		return nil, f.unreachable(ctx, err)
	}
	if int64(len(r.body)) > limit {
		r.body, r.whole = r.body[:limit], false
	}
	return r, nil
}

func (r *reply) ok() bool { return r.status >= 200 && r.status < 300 }

// errElsewhere and errHops stop a chain of redirects.
type errElsewhere struct{ server string }

func (e errElsewhere) Error() string { return "redirect to another host" }

var errHops = errors.New("too many redirects")

// checkRedirect allows redirects within one server. Redirects to other hosts fail, so
// neither credential nor request reaches another server.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch {
	case !sameServer(via[0].URL, next.URL):
		return errElsewhere{next.URL.Scheme + "://" + next.URL.Host}
	case len(via) >= maxHops:
		return errHops
	case via[0].Method != http.MethodGet:
		return http.ErrUseLastResponse
	}
	return nil
}

// sameServer compares scheme and host. It also accepts a redirect from http to https on
// the same host.
func sameServer(from, to *url.URL) bool {
	safer := from.Scheme == "http" && to.Scheme == "https"
	return (from.Scheme == to.Scheme || safer) && strings.EqualFold(from.Host, to.Host) && (!safer || to.Port() == "")
}

// request returns an HTTP request; body may be nil.
func request(method, address string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequest(method, address, body)
	if err != nil {
		return nil, fmt.Errorf("%q is no address", withoutUser(address))
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}
