package issue

import (
	"bytes"
	"encoding/json"
	"errors"

	"git-checkpoint/gitstore/checkpoint"
)

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
	number, ok := numberOf(doc, n.Number)
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

func numberOf(doc *checkpoint.Map, key string) (int64, bool) {
	v, _ := doc.Get(key)
	text, ok := v.(checkpoint.Number)
	if !ok {
		return 0, false
	}
	return checkpoint.Issue(text).Number()
}
