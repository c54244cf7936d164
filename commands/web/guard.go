package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"git-checkpoint/commands/internal/view"
)

// tokenParam is the query parameter with the token in the printed URL.
const tokenParam = "token"

// A guard is a handler in front of all pages. It accepts requests only from this
// program's pages and from users with the printed URL.
type guard struct {
	token  string
	cookie string // name of the token's cookie
	host   string // configured host name or address
	csp    func() string
	cross  *http.CrossOriginProtection
	next   http.Handler
}

func newGuard(token, cookie, host string, csp func() string, next http.Handler) *guard {
	return &guard{token: token, cookie: cookie, host: host, csp: csp, cross: http.NewCrossOriginProtection(), next: next}
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", g.csp())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !g.knows(r):
		refuse(w, http.StatusMisdirectedRequest, "this server has another host name")
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		refuse(w, http.StatusMethodNotAllowed, "method not allowed")
	case !fromHere(r) || g.cross.Check(r) != nil:
		refuse(w, http.StatusForbidden, "the request came from another page")
	case r.Method == http.MethodGet && equal(r.URL.Query().Get(tokenParam), g.token):
		g.letIn(w, r)
	case !g.isIn(r):
		refuse(w, http.StatusUnauthorized, "open the address that git checkpoint web printed: it contains the token")
	default:
		g.next.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("git-checkpoint: " + view.Clean(text) + "\n"))
}

// knows reports whether the Host header names this server. This check prevents DNS
// rebinding. The port is not checked, because it may be forwarded.
func (g *guard) knows(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") || host != "" && strings.EqualFold(host, g.host) {
		return true
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr) // of the request's connection
	tcp, ok := local.(*net.TCPAddr)
	return at.IsLoopback() || ok && at == tcp.AddrPort().Addr().Unmap()
}

// fromHere reports whether this program's page or the user sent the request. Requests
// from other pages in the browser are rejected, except for links: only the user sees
// their response.
func fromHere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// letIn sets the cookie and redirects to the requested URL without the token.
func (g *guard) letIn(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	to := *r.URL
	q := to.Query()
	q.Del(tokenParam)
	to.Scheme, to.Host, to.User, to.RawQuery = "", "", nil, q.Encode()
	if !strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.Path, "//") || strings.HasPrefix(to.Path, `/\`) {
		to.Path, to.RawPath = "/", ""
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		// Browsers send a strict cookie neither with a link from elsewhere, such as the file of --open,
		// nor with redirects of that link. So a page leads to the URL with a new navigation.
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(redirectTo(to.String())))
		return
	}
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusSeeOther)
}

// isIn reports whether the request has the cookie with the token.
func (g *guard) isIn(r *http.Request) bool {
	for _, c := range r.CookiesNamed(g.cookie) {
		if equal(c.Value, g.token) {
			return true
		}
	}
	return false
}

// equal compares two secrets in constant time.
func equal(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
