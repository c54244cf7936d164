// Package forgetest provides a fake forge for tests. Its server runs on this machine and
// implements the documented issue and label endpoints of GitHub Enterprise, GitLab and
// Gitea. Modes simulate server failures.
package forgetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
)

// A FakeIssue is an issue on the fake server.
type FakeIssue struct {
	Title, Body string
	Labels      []string
	Shared      []string // labels of the organization, on Gitea
	Assignees   []string
	Closed      bool
}

// A Server hosts the issues of one project.
type Server struct {
	*httptest.Server
	Elsewhere string // redirect target of mode "elsewhere"

	mu       sync.Mutex
	project  string
	issues   map[string]*FakeIssue
	labels   map[string]int  // ids of the project's labels; Gitea accepts no others
	shared   map[string]int  // ids of the labels of the project's organization on Gitea
	alone    map[string]bool // exclusive labels
	token    string          // token of a private project
	scopes   []string        // scopes of the token, or nil for all
	mode     string
	requests []string
	secrets  []string
	done     chan struct{}
}

// New starts a server for a project named owner/name. Close stops it.
func New(project string) *Server {
	s := &Server{project: project, issues: map[string]*FakeIssue{}, labels: map[string]int{}, shared: map[string]int{}, alone: map[string]bool{}, done: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close stops the server and requests that hang on purpose.
func (s *Server) Close() {
	close(s.done)
	s.Server.Close()
}

// Put stores an issue and adds its labels to the project and the organization.
func (s *Server) Put(number string, i FakeIssue) {
	s.Define(i.Labels...)
	s.Share(i.Shared...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issues[number] = &i
}

// Define adds labels to the project.
func (s *Server) Define(labels ...string) { s.define(s.labels, labels) }

// Share adds labels to the organization of the project. The project can have a label of
// the same name.
func (s *Server) Share(labels ...string) { s.define(s.shared, labels) }

func (s *Server) define(ids map[string]int, labels []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range labels {
		if ids[l] == 0 {
			ids[l] = 70 + len(s.labels) + len(s.shared)
		}
	}
}

// Exclusive makes labels exclusive on Gitea: an issue has at most one of the exclusive
// labels with the same text before the last slash.
func (s *Server) Exclusive(labels ...string) {
	s.Define(labels...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range labels {
		s.alone[l] = true
	}
}

// Scopes limits the token to scopes of Gitea, such as read:issue.
func (s *Server) Scopes(scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = scopes
}

// DeleteLabel removes a label from the project and all its issues.
func (s *Server) DeleteLabel(label string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.labels, label)
	for _, i := range s.issues {
		i.remove([]string{label})
	}
}

// Issue returns the current state of an issue.
func (s *Server) Issue(number string) FakeIssue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.issues[number]
}

// Private makes the server require a token, in any supported header.
func (s *Server) Private(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Misbehave selects a failure mode from Modes; "" restores normal responses.
func (s *Server) Misbehave(mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
}

// Requests returns all requests so far, each as method, path and status.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Secrets returns received credentials with their header names.
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

// recorder records the response status.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap supports http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// answer handles a request without a failure mode.
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
	case kind == "gitea" && s.lacks(r) != "":
		refuse(w, http.StatusForbidden, fmt.Sprintf("token does not have at least one of required scope(s), required=[%s], token scope=%s",
			s.lacks(r), strings.Join(s.scopes, ",")))
	case r.Method == http.MethodGet && sub == "":
		s.show(w, kind, number, i)
	default:
		s.change(w, r, kind, sub, i)
	}
}

// route returns the API kind of a URL path, and the rest of the path after "issues/".
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

// lacks returns the scope that a request needs and the token does not have, or "".
func (s *Server) lacks(r *http.Request) string {
	need, enough := "write:issue", []string{"write:issue"}
	if r.Method == http.MethodGet {
		need, enough = "read:issue", []string{"read:issue", "write:issue"}
	}
	if s.scopes == nil || slices.ContainsFunc(enough, func(e string) bool { return slices.Contains(s.scopes, e) }) {
		return ""
	}
	return need
}

func (s *Server) show(w http.ResponseWriter, kind, number string, i *FakeIssue) {
	data, _ := json.Marshal(s.document(kind, number, i))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(data)
}

// document returns an issue in the API's format, with additional fields that the client
// ignores.
func (s *Server) document(kind, number string, i *FakeIssue) map[string]any {
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
		for _, l := range i.Labels {
			labels = append(labels, map[string]any{"id": s.labels[l], "name": l, "color": "00aabb"})
		}
		for _, l := range i.Shared {
			labels = append(labels, map[string]any{"id": s.shared[l], "name": l, "color": "00aabb"})
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

// change changes labels as each API does.
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
	_ = json.NewDecoder(r.Body).Decode(&body)
	replaces := r.Method == http.MethodPut
	switch {
	case kind == "gitlab" && replaces && sub == "":
		i.add(split(body.AddLabels))
		i.remove(split(body.RemoveLabels))
		_ = json.NewEncoder(w).Encode(s.document(kind, "1", i))
		return
	case kind == "gitlab" || sub != "labels" || !replaces && r.Method != http.MethodPost:
		refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	case kind == "gitea":
		if replaces {
			i.Labels, i.Shared = nil, nil
		}
		s.addGitea(i, body.Labels)
	default:
		for n, name := range body.Labels {
			body.Labels[n] = i.spelling(name)
		}
		if replaces {
			i.Labels = nil
		}
		i.add(body.Labels)
	}
	_ = json.NewEncoder(w).Encode(s.document(kind, "1", i)["labels"])
}

func (i *FakeIssue) add(names []string) {
	for _, n := range names {
		if !slices.Contains(i.Labels, n) {
			i.Labels = append(i.Labels, n)
		}
	}
}

// spelling returns the label of the issue whose name differs only in case, or the name.
// GitHub ignores the case of names.
func (i *FakeIssue) spelling(name string) string {
	for _, l := range i.Labels {
		if strings.EqualFold(l, name) {
			return l
		}
	}
	return name
}

func (i *FakeIssue) remove(names []string) {
	i.Labels = slices.DeleteFunc(i.Labels, func(l string) bool { return slices.Contains(names, l) })
}

// addGitea adds the labels of project and organization, and removes labels that a new
// label excludes. It drops names that neither has, as Gitea does with status 200.
func (s *Server) addGitea(i *FakeIssue, names []string) {
	for _, name := range names {
		if s.alone[name] && !slices.Contains(i.Labels, name) {
			i.Labels = slices.DeleteFunc(i.Labels, func(l string) bool { return s.alone[l] && path.Dir(l) == path.Dir(name) })
		}
		if s.labels[name] != 0 {
			i.add([]string{name})
		}
		if s.shared[name] != 0 && !slices.Contains(i.Shared, name) {
			i.Shared = append(i.Shared, name)
		}
	}
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
