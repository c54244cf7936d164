package forge

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Network is what git's configuration says of the way to a server. The zero
// value goes by the environment's proxies and the system's certificates.
type Network struct {
	Proxy  string // http.proxy: host:port or a URL; "" leaves it to the environment
	Direct bool   // http.proxy is there, and empty: no proxy at all
	CAInfo string // http.sslCAInfo: a file of certificates to trust
}

// Errors of settings have no value in them: there may be a password in a
// proxy's.
var (
	errProxy  = errors.New("http.proxy is no address of a proxy")
	errCAInfo = errors.New("http.sslCAInfo is no file of certificates that can be read")
)

// transport goes to one server once.
func (n Network) transport() (*http.Transport, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeaders,
		ForceAttemptHTTP2: true,
	}
	switch {
	case n.Direct:
		t.Proxy = nil
	case n.Proxy != "":
		proxy, err := parseProxy(n.Proxy)
		if err != nil {
			return nil, err
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

// parseProxy takes a host alone for a proxy of HTTP, as curl does.
func parseProxy(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, errProxy
	}
	return u, nil
}
