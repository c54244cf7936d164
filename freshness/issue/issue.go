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
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"

	"gopkg.in/yaml.v3"
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
		r.fail("want open or closed", step{key: "state"})
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
		r.fail("want text", step{key: key})
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

func (r *reader) fail(msg string, path ...step) {
	if r.err != nil {
		return
	}
	name := path[0].key
	if len(path) > 1 {
		name += fmt.Sprintf("[%d]", path[1].index)
	}
	where := whereYAML
	if json.Valid(r.data) {
		where = whereJSON
	}
	line, column := where(r.data, path) // parsing does not store positions, because only errors need them
	r.err = &checkpoint.SyntaxError{Line: line, Column: column, Path: name, Msg: msg}
}

// step selects a key's value, or a list element.
type step struct {
	key   string // "" for a list element
	index int
}

func whereJSON(data []byte, path []step) (line, column int) {
	dec := json.NewDecoder(bytes.NewReader(data))
	for _, s := range path {
		if !enter(dec, s) {
			return 1, 1
		}
	}
	at := int(dec.InputOffset())
	for at < len(data) && bytes.IndexByte([]byte(" \t\r\n,:"), data[at]) >= 0 {
		at++
	}
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	return bytes.Count(data[:at], []byte("\n")) + 1, utf8.RuneCount(data[start:at]) + 1
}

// enter reads tokens up to the value of a step, and leaves the value itself unread.
func enter(dec *json.Decoder, s step) bool {
	if open, err := dec.Token(); err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return false
	}
	for k := 0; dec.More(); k++ {
		if s.key == "" && k == s.index {
			return true
		}
		if s.key != "" {
			if key, err := dec.Token(); err != nil || key == s.key {
				return err == nil
			}
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}

func whereYAML(data []byte, path []step) (line, column int) {
	var doc yaml.Node
	defer func() {
		// yaml.v3 panics on comments in some positions.
		if recover() != nil {
			line, column = 1, 1
		}
	}()
	if err := yaml.Unmarshal(data, &doc); err != nil || len(doc.Content) == 0 {
		return 1, 1
	}
	n := doc.Content[0]
	for _, s := range path {
		next := child(n, s)
		if next == nil {
			break
		}
		n = next
	}
	return n.Line, n.Column
}

func child(n *yaml.Node, s step) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.SequenceNode && s.key == "" && s.index < len(n.Content):
		return n.Content[s.index]
	case n.Kind == yaml.MappingNode && s.key != "":
		for k := 0; k+1 < len(n.Content); k += 2 {
			if n.Content[k].Value == s.key {
				return n.Content[k+1]
			}
		}
	}
	return nil
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
