package issue

import (
	"bytes"
	"encoding/json"
	"errors"

	"git-checkpoint/gitstore/checkpoint"
)

// Names are the keys that an API has for what an issue file calls number, body
// and login.
type Names struct{ Number, Body, Login string }

// An Answer is an issue with the number that its tracker gives it.
type Answer struct {
	*Issue
	Number int64
}

// ErrNotJSON says that an answer cannot be read, without anything of it.
var ErrNotJSON = errors.New("the answer is not JSON that can be read")

// What else an answer can be instead of an issue.
var (
	errHTML    = errors.New("the answer is a page of HTML, not JSON")
	errNoIssue = errors.New("the answer is no issue: it has no number and title")
)

// ParseAnswer reads what a tracker's API says about an issue: JSON alone, with
// the fields of an issue file under the API's names.
func ParseAnswer(data []byte, n Names) (Answer, error) {
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")):
		return Answer{}, errHTML
	case !json.Valid(data):
		return Answer{}, ErrNotJSON
	}
	doc, err := checkpoint.DecodeDocument(data, checkpoint.Limits{Bytes: MaxBytes})
	if err != nil {
		return Answer{}, ErrNotJSON // the text could have a key of the answer's in it
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
