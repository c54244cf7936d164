// Package issue reads the current issue from a file or a program.
//
// An issue file is one mapping in YAML or JSON:
//
//	title: text
//	body: text
//	labels: list of texts, or of mappings with a name
//	assignees: list of texts, or of mappings with a login or a name
//	state: open or closed; case is ignored, and opened means open
//
// All keys are optional, unknown keys are ignored, and null means empty. Missing keys are
// listed in Issue.Absent, because a source without a field differs from an empty field.
// This format covers ci-filebase files and the output of `gh issue view --json
// title,body,labels,assignees,state`.
package issue

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
)

// MaxBytes limits the size of an issue file.
const MaxBytes = 8 << 20

// Issue is an issue of a source.
type Issue = freshness.SourceIssue

// parseFile parses an issue file. It returns a *checkpoint.SyntaxError with line and
// column for invalid content.
func parseFile(data []byte) (*Issue, error) {
	doc, err := checkpoint.DecodeDocument(data, checkpoint.Limits{Bytes: MaxBytes})
	if err != nil {
		return nil, err
	}
	r := reader{data: data, doc: doc, issue: &Issue{}}
	return r.read("body", "login", "name")
}

// Names are an API's keys for the issue number, body and login.
type Names struct{ Number, Body, Login string }

// An Answer is an issue with its tracker's issue number.
type Answer struct {
	*Issue
	Number int64
}

// ErrNotJSON reports that a response is not valid JSON. The text contains no part of the
// response.
var ErrNotJSON = errors.New("the answer is not JSON that can be read")

// Errors for responses that contain no issue.
var (
	errHTML    = errors.New("the answer is a page of HTML, not JSON")
	errNoIssue = errors.New("the answer is no issue: it has no number and title")
)

// ParseAnswer parses the JSON response of a tracker's API. Fields are those of an issue
// file, under the API's key names.
func ParseAnswer(data []byte, n Names) (Answer, error) {
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")):
		return Answer{}, errHTML
	case !json.Valid(data):
		return Answer{}, ErrNotJSON
	}
	doc, err := checkpoint.DecodeDocument(data, checkpoint.Limits{Bytes: MaxBytes})
	if err != nil {
		return Answer{}, ErrNotJSON // the error text could contain keys of the response
	}
	v, _ := doc.Get(n.Number)
	text, _ := v.(checkpoint.Number)
	number, ok := checkpoint.Issue(text).Number()
	if _, titled := doc.Get("title"); !ok || !titled {
		return Answer{}, errNoIssue
	}
	r := reader{data: data, doc: doc, issue: &Issue{}}
	found, err := r.read(n.Body, n.Login)
	if err != nil {
		return Answer{}, err
	}
	return Answer{found, number}, nil
}

// reader reads fields of a document and keeps the first error.
type reader struct {
	data  []byte
	doc   *checkpoint.Map
	issue *Issue
	err   error
}

// read parses every field. Sources differ in their keys for body and assignees.
func (r *reader) read(body string, logins ...string) (*Issue, error) {
	r.issue.Title = r.text("title", "title")
	r.issue.Body = r.text("body", body)
	r.issue.Labels = r.list("labels", "name")
	r.issue.Assignees = r.list("assignees", logins...)
	r.issue.State = strings.ToLower(r.text("state", "state"))
	switch r.issue.State {
	case "opened":
		r.issue.State = "open"
	case "", "open", "closed":
	default:
		r.fail("want open or closed", "state")
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.issue, nil
}

func (r *reader) text(field, key string) string {
	v, ok := r.get(field, key)
	if !ok {
		return ""
	}
	s, ok := scalar(v)
	if !ok {
		r.fail("want text", key)
	}
	return s
}

// get returns a value, and false for null or missing keys. Missing keys are recorded in
// Absent.
func (r *reader) get(field, key string) (any, bool) {
	v, ok := r.doc.Get(key)
	if !ok {
		r.issue.Absent = append(r.issue.Absent, field)
	}
	return v, v != nil
}

// scalar returns a scalar value as text, since a title may be 42 or true.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case checkpoint.Number:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

func (r *reader) fail(msg, path string) {
	if r.err == nil { // parsing does not store positions, because only errors need them
		line, column := checkpoint.Position(r.data, path)
		r.err = &checkpoint.SyntaxError{Line: line, Column: column, Path: path, Msg: msg}
	}
}

// list parses a list of strings, or of mappings with a string under one of the names; the
// first existing key wins.
func (r *reader) list(key string, names ...string) []string {
	v, ok := r.get(key, key)
	if !ok {
		return nil
	}
	l, ok := v.([]any)
	if !ok {
		r.fail("want a list", key)
	}
	out := make([]string, 0, len(l))
	for k, v := range l {
		s, ok := element(v, names)
		if !ok {
			r.fail("want text or a mapping with "+strings.Join(names, " or "), checkpoint.PathOf(key, k))
		}
		out = append(out, s)
	}
	return out
}

func element(v any, names []string) (string, bool) {
	m, ok := v.(*checkpoint.Map)
	if !ok {
		s, ok := scalar(v)
		return s, ok && s != ""
	}
	for _, name := range names {
		if v, ok := m.Get(name); ok {
			s, ok := scalar(v)
			return s, ok && s != ""
		}
	}
	return "", false
}
