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

// Network holds git's network settings for a server. The zero value uses proxies of the
// environment and system certificates.
type Network struct {
	Proxy  string // http.proxy: host:port or URL; "" uses the environment
	Direct bool   // http.proxy is set to an empty value: no proxy
	CAInfo string // http.sslCAInfo: file with trusted certificates
}

// Errors of settings contain no values, because a proxy URL may contain a password.
var (
	errProxy  = errors.New("http.proxy is no address of a proxy")
	errCAInfo = errors.New("http.sslCAInfo is no file of certificates that can be read")
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

// parseProxy treats a host without scheme as an HTTP proxy, as curl does.
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
