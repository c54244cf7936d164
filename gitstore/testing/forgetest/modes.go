package forgetest

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Modes are the failure modes.
var Modes = map[string]func(*Server, http.ResponseWriter, *http.Request){
	"hang":    func(s *Server, _ http.ResponseWriter, r *http.Request) { s.wait(r) },
	"trickle": trickle,
	"cut": func(_ *Server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"title":`)
	},
	"500":     status(http.StatusInternalServerError),
	"503":     status(http.StatusServiceUnavailable),
	"401":     status(http.StatusUnauthorized),
	"403":     status(http.StatusForbidden),
	"404":     status(http.StatusNotFound),
	"410":     status(http.StatusGone),
	"304":     status(http.StatusNotModified),
	"418":     status(http.StatusTeapot),
	"no-body": func(_ *Server, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"limit": func(_ *Server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "60")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(limitEnds))
		refuse(w, http.StatusForbidden, "API rate limit exceeded for 203.0.113.7.")
	},
	"secondary-limit": func(_ *Server, w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusForbidden, "You have exceeded a secondary rate limit.")
	},
	"retry-after": func(_ *Server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusTooManyRequests, "Retry later")
	},
	"elsewhere": func(s *Server, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.Elsewhere+r.URL.Path, http.StatusMovedPermanently)
	},
	"read-only": func(s *Server, w http.ResponseWriter, r *http.Request) { // GitHub, for a token without scopes
		if r.Method == http.MethodGet {
			s.answer(w, r)
			return
		}
		refuse(w, http.StatusNotFound, "Not Found")
	},
	"circle": func(_ *Server, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	},
	"renamed": renamed,
	"gigabyte": func(s *Server, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"title":"`)
		s.flood(w, 1<<30)
	},
	"sorry-gigabyte": func(s *Server, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		s.flood(w, 1<<30)
	},
	"headers": func(_ *Server, w http.ResponseWriter, _ *http.Request) {
		for i := range 2000 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
		}
	},
	"html":    text("text/html", "\n<!DOCTYPE html><html><title>Sign in</title></html>"),
	"invalid": text("application/json", `{"title": "cut o`),
	"list":    text("application/json", `[{"title":"t","number":42}]`),
	"empty":   text("application/json", ``),
	"types":   text("application/json", `{"number":42,"iid":42,"title":{"a":1},"body":7,"labels":"x"}`),
	"message": text("application/json", `{"message":"Bad things: hunter2"}`),
	"another": text("application/json", `{"number":43,"iid":43,"title":"t"}`),
}

// limitEnds is the end of the rate limit in mode "limit": ten minutes after the fixed
// time of the scripts.
var limitEnds = time.Date(2026, 2, 14, 14, 40, 0, 0, time.UTC).Unix()

func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	fmt.Fprintf(w, "{%q:%q}", "message", message)
}

func status(code int) func(*Server, http.ResponseWriter, *http.Request) {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request) {
		if code == http.StatusNotModified {
			w.WriteHeader(code)
			return
		}
		refuse(w, code, "nobody shows this: hunter2")
	}
}

func text(kind, body string) func(*Server, http.ResponseWriter, *http.Request) {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}
}

func (s *Server) wait(r *http.Request) {
	select {
	case <-s.done:
	case <-r.Context().Done():
	}
}

// trickle sends one byte every 20 ms until the request ends.
func trickle(s *Server, w http.ResponseWriter, r *http.Request) {
	for {
		fmt.Fprint(w, " ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-s.done:
			return
		case <-r.Context().Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) flood(w http.ResponseWriter, n int) {
	chunk := []byte(strings.Repeat("x", 1<<20))
	for ; n > 0; n -= len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// renamed simulates a renamed project on the same server.
func renamed(s *Server, w http.ResponseWriter, r *http.Request) {
	if kind, rest := s.route(r.URL.EscapedPath()); kind == "github" {
		code := http.StatusMovedPermanently
		if r.Method != http.MethodGet {
			code = http.StatusTemporaryRedirect
		}
		http.Redirect(w, r, "/api/v3/repositories/1/issues/"+rest, code)
		return
	}
	s.answer(w, r)
}
