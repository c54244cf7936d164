package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// tokenParam is the parameter of the printed address that has the token.
const tokenParam = "token"

// A guard stands before every page: it lets through what this program's own
// page, or the person who has its address, asks for.
type guard struct {
	token  string
	cookie string // the name of the cookie that has it
	host   string // the address that was chosen, "" for loopback's
	csp    func() string
	cross  *http.CrossOriginProtection
	next   http.Handler
}

func newGuard(token, cookie, host string, csp func() string, next http.Handler) *guard {
	return &guard{token: token, cookie: cookie, host: host, csp: csp, cross: http.NewCrossOriginProtection(), next: next}
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.headers(w.Header())
	switch {
	case !g.knows(r):
		refuse(w, http.StatusMisdirectedRequest, "this is not the host that you asked for")
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		refuse(w, http.StatusMethodNotAllowed, "this cannot be done here")
	case !fromHere(r) || g.cross.Check(r) != nil:
		refuse(w, http.StatusForbidden, "another page asked for this")
	case g.brings(r):
		g.letIn(w, r)
	case !g.isIn(r):
		refuse(w, http.StatusUnauthorized, "open the address that git checkpoint web printed: it has the token that is missing here")
	default:
		g.next.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("git-checkpoint: " + text + "\n"))
}

// headers are those of every answer, a refusal too.
func (g *guard) headers(h http.Header) {
	h.Set("Content-Security-Policy", g.csp())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// knows reports whether a request names this host. A name that somebody made
// to point here (DNS rebinding) is none of ours; the port may be another one,
// where it was forwarded.
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
	return at.IsLoopback() || at == arrivedAt(r)
}

// arrivedAt is the address of this machine that a connection was made to.
func arrivedAt(r *http.Request) netip.Addr {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if tcp, ok := local.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// fromHere reports whether this program's own page asks, or the person: what
// another page in the browser asks for is refused, but that somebody follows a
// link to here, which nobody but the person sees.
func fromHere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// brings reports whether the address has the token.
func (g *guard) brings(r *http.Request) bool {
	return r.Method == http.MethodGet && equal(r.URL.Query().Get(tokenParam), g.token)
}

// letIn gives a browser the cookie, and sends it where it wanted to go by an
// address that may be seen.
func (g *guard) letIn(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	to := *r.URL
	q := to.Query()
	q.Del(tokenParam)
	to.Scheme, to.Host, to.User, to.RawQuery = "", "", nil, q.Encode()
	if !strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.Path, "//") || strings.HasPrefix(to.Path, `/\`) {
		to.Path, to.RawPath = "/", ""
	}
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusSeeOther)
}

// isIn reports whether a browser has the cookie.
func (g *guard) isIn(r *http.Request) bool {
	for _, c := range r.CookiesNamed(g.cookie) {
		if equal(c.Value, g.token) {
			return true
		}
	}
	return false
}

// equal compares in a time that tells nothing of either.
func equal(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
