// Package forge reads issues from GitHub, GitLab, and Gitea or Forgejo, and changes issue
// labels.
//
//	         an issue                                   the API
//	github   GET /repos/OWNER/NAME/issues/N             api.HOST, or HOST/api/v3
//	gitlab   GET /projects/OWNER%2FNAME/issues/N        HOST/api/v4
//	gitea    GET /repos/OWNER/NAME/issues/N             HOST/api/v1
//
// The context limits the duration of a request, and a constant limits the response size.
// Failed requests return a *RequestError with a one-line text. The text is written here
// and never quotes the server, except names of scopes.
//
// # Tokens
//
// A credential is sent to one host, in a header. It never appears in URLs, errors or
// files, and redirects to other hosts are not followed. An environment variable holds a
// token for the host to which the forge's own tool sends it. This package sends the token
// to the same host, and to hosts named in trusted settings. Credentials of git's
// credential helper are sent only to their own host.
//
// # Cache
//
// A response is cached with its time. The cache also stores the end of a rate limit, so that no
// request is sent before. Seen returns the cached issue and sends no request.
package forge

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"git-checkpoint/freshness/issue"
	"git-checkpoint/gitstore/trace"
)

// A Forge sends requests to one site. Without SignIn it uses no credential, and without Cache no
// cache.
type Forge struct {
	Site   Site
	SignIn SignIn
	Cache  string          // cache directory of this repository, created on first use
	Share  func(...string) // sets the modes of cached files for a shared repository, may be nil
	Now    func() time.Time

	Network func(context.Context) Network // network settings for the server
}

// Network holds git's network settings for a server. The zero value uses proxies of the
// environment and system certificates.
type Network struct {
	Proxy  string // http.proxy: host:port or URL; "" uses the environment
	Direct bool   // http.proxy is set to an empty value: no proxy
	CAInfo string // http.sslCAInfo: file with trusted certificates
}

// send sends one request, with a JSON body unless body is nil. It returns a *RequestError, or the
// context's error if the caller canceled.
func (f *Forge) send(ctx context.Context, method, address string, body any, c Credential) (*reply, error) {
	var data io.Reader
	if body != nil {
		text, _ := json.Marshal(body) // strings always marshal
		data = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, data)
	if err != nil {
		return nil, fmt.Errorf("%q is no address", withoutUser(address))
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "git-checkpoint")
	req.Header.Set("Accept", "application/json")
	if f.Site.Kind == GitHub {
		req.Header.Set("Accept", "application/vnd.github+json")
		req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	}
	if !c.IsZero() {
		req.Header.Set(c.header, c.secret)
	}
	transport, err := f.Network(ctx).transport()
	if err != nil {
		return nil, f.failed("cannot be asked: %v", err)
	}
	client := &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	span := trace.Begin(trace.Request, req.Method+" "+string(f.Site.Kind))
	answer, err := client.Do(req)
	if err != nil {
		span.EndWith("failed")
		return nil, f.unreachable(ctx, err)
	}
	defer answer.Body.Close()
	span.EndWith(answer.Status)
	r := &reply{url: answer.Request.URL, status: answer.StatusCode, header: answer.Header, whole: true}
	limit := int64(maxRefusal)
	if r.ok() {
		limit = issue.MaxBytes
	}
	r.body, err = io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err != nil && r.ok() {
		return nil, f.unreachable(ctx, err)
	}
	if int64(len(r.body)) > limit {
		r.body, r.whole = r.body[:limit], false
	}
	return r, nil
}

// A reply is a response with its body read up to a limit.
type reply struct {
	url    *url.URL // final URL after redirects
	status int
	header http.Header
	body   []byte
	whole  bool // the body is complete
}

const (
	maxHops    = 5
	maxHeaders = 64 << 10
	maxRefusal = 4 << 10 // limit for bodies of error responses, in bytes
)

// Errors of settings contain no values, because a proxy URL may contain a password.
var (
	errProxy  = errors.New("http.proxy is not the address of a proxy")
	errCAInfo = errors.New("http.sslCAInfo is not a readable file of certificates")
)

// transport returns a transport without keep-alive connections.
func (n Network) transport() (*http.Transport, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeaders,
		ForceAttemptHTTP2: true,
	}
	switch {
	case n.Direct:
		t.Proxy = nil
	case n.Proxy != "":
		text := n.Proxy
		if !strings.Contains(text, "://") {
			text = "http://" + text // as curl does
		}
		proxy, err := url.Parse(text)
		if err != nil || proxy.Host == "" {
			return nil, errProxy
		}
		t.Proxy = http.ProxyURL(proxy)
	}
	if n.CAInfo == "" {
		return t, nil
	}
	data, err := os.ReadFile(n.CAInfo)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(data) {
		return nil, errCAInfo
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool}
	return t, nil
}

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

// errElsewhere and errHops stop a chain of redirects.
type errElsewhere struct{ server string }

func (e errElsewhere) Error() string { return "redirect to another host" }

func (r *reply) ok() bool { return r.status >= 200 && r.status < 300 }
