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
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
)

// MaxBytes limits the size of an issue file.
const MaxBytes = 8 << 20

// Issue is an issue of a source.
type Issue = freshness.SourceIssue

// ParseFile parses an issue file. It returns a *checkpoint.SyntaxError with line and
// column for invalid content.
func ParseFile(data []byte) (*Issue, error) {
	doc, err := checkpoint.DecodeDocument(data, checkpoint.Limits{Bytes: MaxBytes})
	if err != nil {
		return nil, err
	}
	r := reader{data: data, doc: doc, issue: &Issue{}}
	return r.read("body", "login", "name")
}

// read parses every field. Sources differ in their keys for body and assignees.
func (r *reader) read(body string, logins ...string) (*Issue, error) {
	r.issue.Title = r.text("title", "title")
	r.issue.Body = r.text("body", body)
	r.issue.Labels = r.list("labels", "name")
	r.issue.Assignees = r.list("assignees", logins...)
	r.issue.State = r.state()
	if r.err != nil {
		return nil, r.err
	}
	return r.issue, nil
}

// reader reads fields of a document and keeps the first error.
type reader struct {
	data  []byte
	doc   *checkpoint.Map
	issue *Issue
	err   error
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

func (r *reader) text(field, key string) string {
	v, ok := r.get(field, key)
	if !ok {
		return ""
	}
	s, ok := scalar(v)
	if !ok {
		r.fail("want text", step{key: key})
	}
	return s
}

func (r *reader) state() string {
	s := strings.ToLower(r.text("state", "state"))
	switch s {
	case "opened":
		return "open"
	case "", "open", "closed":
		return s
	}
	r.fail("want open or closed", step{key: "state"})
	return ""
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
		r.fail("want a list", step{key: key})
	}
	out := make([]string, 0, len(l))
	for k, v := range l {
		s, ok := element(v, names)
		if !ok {
			r.fail("want text or a mapping with "+strings.Join(names, " or "), step{key: key}, step{index: k})
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

func (r *reader) fail(msg string, path ...step) {
	if r.err != nil {
		return
	}
	name := path[0].key
	if len(path) > 1 {
		name += fmt.Sprintf("[%d]", path[1].index)
	}
	line, column := where(r.data, path)
	r.err = &checkpoint.SyntaxError{Line: line, Column: column, Path: name, Msg: msg}
}
