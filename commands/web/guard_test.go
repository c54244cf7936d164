package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// secretPage represents all pages; it must not reach unauthorised clients.
const secretPage = "the page"

func guarded() *guard {
	return newGuard(testToken, "c", "box.lan", contentPolicy, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(secretPage))
	}))
}

// request returns an authorised browser request, modified by change.
func request(change func(*http.Request)) *http.Request {
	r := httptest.NewRequest("GET", "/i/42", nil)
	r.Host = "127.0.0.1:8042"
	r.AddCookie(&http.Cookie{Name: "c", Value: testToken})
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	change(r)
	return r
}

func TestGuard(t *testing.T) {
	t.Parallel()
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	site := func(from string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", from) }
	}
	post := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			r.Method = "POST"
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set(name, value)
		}
	}
	cookies := func(values ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Cookie")
			for _, v := range values {
				r.AddCookie(&http.Cookie{Name: "c", Value: v})
			}
		}
	}
	tests := []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"its own page", func(*http.Request) {}, 200},
		{"localhost", host("localhost:8042"), 200},
		{"localhost in capitals", host("LOCALHOST:8042"), 200},
		{"without a port", host("localhost"), 200},
		{"IPv6", host("[::1]:8042"), 200},
		{"another loopback address", host("127.0.0.2:8042"), 200},
		{"the chosen name", host("box.lan:8042"), 200},
		{"a name that was made to point here", host("evil.example:8042"), 421},
		{"one that ends like ours", host("evil-localhost:8042"), 421},
		{"one that begins like ours", host("localhost.evil.example:8042"), 421},
		{"an address in a name", host("127.0.0.1.nip.io:8042"), 421},
		{"another machine's address", host("192.0.2.7:8042"), 421},
		{"every address", host("0.0.0.0:8042"), 421},
		{"no host", host(""), 421},
		{"a port alone", host(":8042"), 421},
		{"no cookie", cookies(), 401},
		{"an empty cookie", cookies(""), 401},
		{"another cookie", cookies("a-token-for-test"), 401},
		{"one of two", cookies("old", testToken), 200},
		{"another site's script", site("cross-site"), 403},
		{"another port's script", site("same-site"), 403},
		{"typed", site("none"), 200},
		{"a link somewhere", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "document")
		}, 200},
		{"a frame somewhere", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "iframe")
		}, 403},
		{"its own form", post("Sec-Fetch-Site", "same-origin"), 200},
		{"another site's form", post("Sec-Fetch-Site", "cross-site"), 403},
		{"another port's form", post("Sec-Fetch-Site", "same-site"), 403},
		{"another origin's form", post("Origin", "http://evil.example"), 403},
		{"no origin's form", post("Origin", "null"), 403},
		{"another method", func(r *http.Request) { r.Method = "PUT" }, 405},
		{"options", func(r *http.Request) { r.Method = "OPTIONS" }, 405},
		{"the token in a form's address", func(r *http.Request) {
			cookies()(r)
			r.Method = "POST"
			r.URL.RawQuery = "token=" + testToken
		}, 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := httptest.NewRecorder()
			guarded().ServeHTTP(answer, request(tt.change))
			assert.Equal(t, tt.want, answer.Code)
			assert.Equal(t, tt.want == 200, strings.Contains(answer.Body.String(), secretPage))
			assert.Contains(t, answer.Header().Get("Content-Security-Policy"), "default-src 'none'")
			assert.Empty(t, answer.Header().Get("Access-Control-Allow-Origin"))
			assert.NotContains(t, answer.Body.String()+answer.Header().Get("Set-Cookie"), testToken)
		})
	}
}

// The local address of a connection is a valid host.
func TestGuardAcceptsTheConnectionAddress(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]int{"192.0.2.7:8042": 200, "192.0.2.8:8042": 421} {
		r := request(func(r *http.Request) { r.Host = host })
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: 8042}))
		answer := httptest.NewRecorder()
		guarded().ServeHTTP(answer, r)
		assert.Equal(t, want, answer.Code, host)
	}
}

// A token in the URL becomes a same-site cookie and disappears from the URL. The redirect
// stays on this server.
func TestGuardReplacesTheTokenByACookie(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/i/42?page=2&token=" + testToken:     "/i/42?page=2",
		"/?token=" + testToken:                "/",
		"//evil.example/?token=" + testToken:  "/",
		"/\\evil.example/?token=" + testToken: "/",
	} {
		r := request(func(r *http.Request) { r.Header.Del("Cookie") })
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(target, "?")
		answer := httptest.NewRecorder()
		guarded().ServeHTTP(answer, r)
		require.Equal(t, http.StatusSeeOther, answer.Code, target)
		assert.Equal(t, want, answer.Header().Get("Location"), target)
		assert.Equal(t, "c="+testToken+"; Path=/; HttpOnly; SameSite=Strict", answer.Header().Get("Set-Cookie"))
	}
	for _, token := range []string{"", "x", testToken + "x", testToken[1:]} {
		r := request(func(r *http.Request) { r.Header.Del("Cookie") })
		r.URL.RawQuery = "token=" + token
		answer := httptest.NewRecorder()
		guarded().ServeHTTP(answer, r)
		assert.Equal(t, http.StatusUnauthorized, answer.Code, token)
	}
}

// The content security policy contains hashes of the page's style and script.
func TestContentPolicyHashesStyleAndScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	answer := w.ask("GET", "/", "", nil)
	policy, page := answer.Header().Get("Content-Security-Policy"), answer.Body.String()
	for tag, kind := range map[string]string{"style": "style-src", "script": "script-src"} {
		_, text, ok := strings.Cut(page, "<"+tag+">")
		require.True(t, ok)
		text, _, _ = strings.Cut(text, "</"+tag+">")
		assert.Greater(t, len(text), 1000)
		assert.Contains(t, policy, kind+" 'sha256-"+digest(text)+"'")
	}
	for _, want := range []string{"default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
		assert.Contains(t, policy, want)
	}
	assert.NotContains(t, policy, "unsafe")
	assert.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
	assert.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"))
	assert.Equal(t, "no-referrer", answer.Header().Get("Referrer-Policy"))
}
