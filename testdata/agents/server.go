package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A server is a model on 127.0.0.1 with the interfaces of Anthropic (Messages), OpenAI
// (Responses, Chat Completions) and Gemini. It records each request, and obeys the
// directives of the newest prompt; see answerTo.
type server struct {
	listener net.Listener
	mu       sync.Mutex
	bodies   []string // of all requests, oldest first
	input    int      // tokens of the answers to conversations with tools, with those read from a cache
	output   int
}

func startServer() (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: listener}
	go func() { _ = http.Serve(listener, s) }() // ends when the listener is closed
	return s, nil
}

func (s *server) url() string { return "http://" + s.listener.Addr().String() }

func (s *server) close() { s.listener.Close() }

// requests returns the bodies of all requests since the first n.
func (s *server) requests(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies[min(n, len(s.bodies)):])
}

// ServeHTTP answers requests to a model, and all other requests with an empty object.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := readBody(r)
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	var root map[string]any
	_ = json.Unmarshal(body, &root) // nil for a request without a body
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, map[string]any{"input_tokens": 100})
	case strings.HasSuffix(path, "/messages"):
		s.answer(w, r, root, anthropic{})
	case strings.HasSuffix(path, "/responses"):
		s.answer(w, r, root, responses{})
	case strings.HasSuffix(path, "/chat/completions"):
		s.answer(w, r, root, chat{})
	case strings.Contains(path, "enerateContent"):
		root["stream"] = strings.Contains(path, "stream")
		s.answer(w, r, root, gemini{})
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, map[string]any{"totalTokens": 100})
	case strings.HasSuffix(path, "/models"):
		model := map[string]any{"id": modelName, "object": "model", "type": "model", "display_name": modelName, "created": 1, "owned_by": "test"}
		writeJSON(w, map[string]any{"object": "list", "data": []any{model}, "models": []any{}, "has_more": false})
	default:
		writeJSON(w, map[string]any{})
	}
}

// modelName is the name of the model for agents that need one in their settings.
const modelName = "test-model"

// A protocol is the form of requests and answers of one interface.
type protocol interface {
	conversation(root map[string]any) conversation
	write(w io.Writer, root map[string]any, a answer, stream bool)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, root map[string]any, p protocol) {
	c := p.conversation(root)
	a := answerTo(c)
	if len(c.tools) > 0 { // other requests are for the title of the session, and no part of a turn
		s.mu.Lock()
		s.input, s.output = s.input+a.tokens, s.output+outputTokens
		s.mu.Unlock()
	}
	select {
	case <-time.After(a.wait):
	case <-r.Context().Done():
		return
	}
	stream, _ := root["stream"].(bool)
	kind := "application/json"
	if stream {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	p.write(w, root, a, stream)
}

// Tokens of each answer: the whole output, and the part of the input that was read from a cache.
const (
	outputTokens = 10
	cachedTokens = 20
)

// tokens returns the sums of the answers to conversations with tools.
func (s *server) tokens() (input, output int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.input, s.output
}

func readBody(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Content-Encoding") != "gzip" {
		return body
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	plain, _ := io.ReadAll(z)
	return plain
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
