// Package forgetest is a forge for tests: a server on this machine that speaks
// as much of the APIs of GitHub Enterprise, GitLab and Gitea as is documented
// for reading an issue and changing its labels, and that can misbehave.
package forgetest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// A FakeIssue is what the server has.
type FakeIssue struct {
	Title, Body string
	Labels      []string
	Assignees   []string
	Closed      bool
}

// A Server has the issues of one project.
type Server struct {
	*httptest.Server
	Elsewhere string // where the mode "elsewhere" redirects to

	mu       sync.Mutex
	project  string
	issues   map[string]*FakeIssue
	labels   map[string]bool // what the project has; Gitea adds no others to an issue
	token    string          // what a private project wants in the header of its kind
	mode     string
	requests []string
	secrets  []string
	done     chan struct{}
}

// New starts a server for project, owner/name. Close ends it.
func New(project string) *Server {
	s := &Server{project: project, issues: map[string]*FakeIssue{}, labels: map[string]bool{}, done: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close ends the server, also what hangs on purpose.
func (s *Server) Close() {
	close(s.done)
	s.Server.Close()
}

// Put keeps an issue. The project has its labels from then on.
func (s *Server) Put(number string, i FakeIssue) {
	s.Define(i.Labels...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issues[number] = &i
}

// Define gives the project labels.
func (s *Server) Define(labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range labels {
		s.labels[l] = true
	}
}

// DeleteLabel removes a label from the project and from all its issues.
func (s *Server) DeleteLabel(label string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.labels, label)
	for _, i := range s.issues {
		i.remove([]string{label})
	}
}

// Issue returns an issue as it is now.
func (s *Server) Issue(number string) FakeIssue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.issues[number]
}

// Private makes the server want a token, in whichever header.
func (s *Server) Private(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Misbehave chooses what the server does instead of answering, "" for nothing.
// The names are those of Modes.
func (s *Server) Misbehave(mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
}

// Requests are the questions so far, as method, path and status.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Secrets are the credentials that came, with their header's name.
func (s *Server) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.secrets)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	mode := s.mode
	for _, name := range []string{"Authorization", "Private-Token", "Job-Token"} {
		if v := r.Header.Get(name); v != "" {
			s.secrets = append(s.secrets, name+": "+v)
		}
	}
	s.mu.Unlock()
	rec := &recorder{ResponseWriter: w, status: http.StatusOK}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, fmt.Sprintf("%s %s %d", r.Method, r.URL.EscapedPath(), rec.status))
	}()
	if do, ok := Modes[mode]; ok {
		do(s, rec, r)
		return
	}
	s.answer(rec, r)
}

// recorder keeps the status that was sent.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController what it needs.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// answer is what a forge does that is well.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, rest := s.route(r.URL.EscapedPath())
	number, sub, _ := strings.Cut(rest, "/")
	i, ok := s.issues[number]
	switch {
	case s.token != "" && !s.signed(r) && r.Header.Get("Authorization")+r.Header.Get("Private-Token")+r.Header.Get("Job-Token") != "":
		refuse(w, http.StatusUnauthorized, "Bad credentials")
	case kind == "" || !ok || s.token != "" && !s.signed(r):
		refuse(w, http.StatusNotFound, "Not Found")
	case r.Method == http.MethodGet && sub == "":
		s.show(w, r, kind, number, i)
	default:
		s.change(w, r, kind, sub, i)
	}
}

// route tells the API by its path, and what stands after the issues.
func (s *Server) route(path string) (kind, rest string) {
	for kind, prefix := range map[string]string{
		"github": "/api/v3/repos/" + s.project + "/issues/",
		"gitlab": "/api/v4/projects/" + strings.ReplaceAll(s.project, "/", "%2F") + "/issues/",
		"gitea":  "/api/v1/repos/" + s.project + "/issues/",
		"moved":  "/api/v3/repositories/1/issues/",
	} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			return kind, rest
		}
	}
	return "", ""
}

func (s *Server) signed(r *http.Request) bool {
	_, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return bearer == s.token || r.Header.Get("Private-Token") == s.token || r.Header.Get("Job-Token") == s.token
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, kind, number string, i *FakeIssue) {
	data, _ := json.Marshal(document(kind, number, i))
	if kind != "gitea" { // Gitea sends no ETag
		sum := sha256.Sum256(data)
		tag := `W/"` + hex.EncodeToString(sum[:8]) + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(data)
}

// document is an issue in the API's words, with fields around it that nobody
// asked for.
func document(kind, number string, i *FakeIssue) map[string]any {
	state := map[bool]string{false: "open", true: "closed"}[i.Closed]
	doc := map[string]any{"id": 900, "title": i.Title, "body": i.Body, "number": json.Number(number), "state": state, "comments": 0, "milestone": nil}
	login := "login"
	if kind == "gitlab" {
		login = "username"
		delete(doc, "body")
		delete(doc, "number")
		doc["description"], doc["iid"], doc["labels"] = i.Body, json.Number(number), append([]string{}, i.Labels...)
		doc["state"] = map[bool]string{false: "opened", true: "closed"}[i.Closed]
	} else {
		labels := []any{}
		for k, l := range i.Labels {
			labels = append(labels, map[string]any{"id": 70 + k, "name": l, "color": "00aabb"})
		}
		doc["labels"] = labels
	}
	people := []any{}
	for _, a := range i.Assignees {
		people = append(people, map[string]any{"id": 5, login: a, "avatar_url": ""})
	}
	doc["assignees"] = people
	return doc
}

// change changes labels, as each API has it.
func (s *Server) change(w http.ResponseWriter, r *http.Request, kind, sub string, i *FakeIssue) {
	if s.token == "" || !s.signed(r) {
		refuse(w, http.StatusForbidden, "Resource not accessible")
		return
	}
	var body struct {
		Labels       []string `json:"labels"`
		AddLabels    string   `json:"add_labels"`
		RemoveLabels string   `json:"remove_labels"`
	}
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&body)
	}
	drop, isDrop := strings.CutPrefix(sub, "labels/")
	switch {
	case kind == "gitlab" && r.Method == http.MethodPut && sub == "":
		i.add(split(body.AddLabels))
		i.remove(split(body.RemoveLabels))
		_ = json.NewEncoder(w).Encode(document(kind, "1", i))
		return
	case kind == "gitea" && r.Method == http.MethodGet && sub == "labels":
		_ = json.NewEncoder(w).Encode(document(kind, "1", i)["labels"])
		return
	case kind == "gitea" && r.Method == http.MethodPost && sub == "labels":
		// Gitea answers 200, and leaves out the labels that the project does not have.
		i.add(slices.DeleteFunc(body.Labels, func(l string) bool { return !s.labels[l] }))
	case kind != "gitlab" && r.Method == http.MethodPost && sub == "labels":
		i.add(body.Labels) // GitHub makes a label that the project does not have
	case kind == "gitea" && r.Method == http.MethodDelete && isDrop:
		i.removeID(drop)
		w.WriteHeader(http.StatusNoContent)
		return
	case kind != "gitlab" && r.Method == http.MethodDelete && isDrop:
		i.remove([]string{unescape(drop)})
	default:
		refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	_ = json.NewEncoder(w).Encode(document(kind, "1", i)["labels"])
}

func (i *FakeIssue) add(names []string) {
	for _, n := range names {
		if !slices.Contains(i.Labels, n) {
			i.Labels = append(i.Labels, n)
		}
	}
}

func (i *FakeIssue) remove(names []string) {
	i.Labels = slices.DeleteFunc(i.Labels, func(l string) bool { return slices.Contains(names, l) })
}

func (i *FakeIssue) removeID(id string) {
	for k, l := range i.Labels {
		if fmt.Sprint(70+k) == id {
			i.remove([]string{l})
			return
		}
	}
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
