// Package issue is where the current issue comes from.
//
// An issue file is one mapping in YAML or JSON:
//
//	title: text
//	body: text
//	labels: list of texts, or of mappings with a name
//	assignees: list of texts, or of mappings with a login or a name
//	state: open or closed; opened and any case are taken too
//
// Keys are optional, and other keys are ignored. A null is empty. A key that
// is not there is listed in Issue.Absent: the source does not know it, which is
// not the same as empty. This reads what ci-filebase keeps and what
// `gh issue view --json title,body,labels,assignees,state` prints.
package issue

import (
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
)

// MaxBytes is the largest issue file that is read.
const MaxBytes = 8 << 20

// Issue is an issue as a source has it.
type Issue = freshness.SourceIssue

// ParseFile reads an issue file. What is wrong with it comes back as a
// *checkpoint.SyntaxError with line and column.
func ParseFile(data []byte) (*Issue, error) {
	doc, err := checkpoint.DecodeDocument(data, checkpoint.Limits{Bytes: MaxBytes})
	if err != nil {
		return nil, err
	}
	r := reader{data: data, doc: doc, issue: &Issue{}}
	return r.read("body", "login", "name")
}

// read takes every field; the body and who is assigned have other names
// elsewhere.
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

// reader takes the fields out of a document and keeps the first error.
type reader struct {
	data  []byte
	doc   *checkpoint.Map
	issue *Issue
	err   error
}

// get returns a value, and false where there is nothing to read: a field whose
// key is not there is noted as absent.
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

// list reads a list of texts, or of mappings that have a text under one of the
// keys; the first key that is there wins.
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

// scalar returns a text as it is written: a title may be 42 or true.
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
