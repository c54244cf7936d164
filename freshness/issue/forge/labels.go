package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"git-checkpoint/freshness/issue"
	"git-checkpoint/gitstore/checkpoint"
)

// A Change is labels to put on an issue, and to take off it.
type Change struct{ Add, Remove []string }

// IsZero reports that there is nothing to change.
func (c Change) IsZero() bool { return len(c.Add) == 0 && len(c.Remove) == 0 }

// maxChange is more labels than an issue can have on most forges. A checkpoint
// may come from anywhere.
const maxChange = 100

// check refuses what no forge has for a label. The path of one called ".." would
// be another one's.
func (c Change) check() error {
	names := slices.Concat(c.Add, c.Remove)
	if len(names) > maxChange {
		return fmt.Errorf("%d labels are too many to change, at most %d", len(names), maxChange)
	}
	for _, name := range names {
		if strings.Trim(name, ". ") == "" || len(name) > 255 || strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("%.60q cannot be a label", name)
		}
	}
	return nil
}

// A call is one request of a change. Labels are added before others are taken
// off, so that an issue is never without a state; each request names its labels
// alone, so that nobody else's change is lost.
type call struct {
	method, address string
	body            any
	gone            bool // 404 is as good as done
}

// SetLabels changes the labels of an issue. It needs a credential, and an error
// says what was not done.
func (f *Forge) SetLabels(ctx context.Context, key checkpoint.Issue, change Change) error {
	if err := change.check(); err != nil {
		return f.failed("%v", err)
	}
	at, err := f.ask(ctx, key)
	if err != nil {
		return err
	}
	if at.as.IsZero() {
		return f.failed("it takes a token to change labels: %s", f.Site.Advice())
	}
	calls, err := f.calls(ctx, at, change)
	if err != nil {
		return err
	}
	defer f.outdate(key)
	for _, one := range calls {
		if err := f.do(ctx, one, at.as, key); err != nil {
			return err
		}
	}
	return nil
}

func (f *Forge) calls(ctx context.Context, at found, change Change) ([]call, error) {
	switch f.Site.Kind {
	case GitLab:
		return f.gitlabCalls(at.address, change)
	case Gitea:
		return f.giteaCalls(ctx, at, change)
	}
	calls := adding(at.address, change)
	for _, name := range change.Remove {
		calls = append(calls, call{method: http.MethodDelete, address: at.address + "/labels/" + url.PathEscape(name), gone: true})
	}
	return calls, nil
}

func adding(address string, change Change) []call {
	if len(change.Add) == 0 {
		return nil
	}
	return []call{{method: http.MethodPost, address: address + "/labels", body: map[string]any{"labels": change.Add}}}
}

// gitlabCalls is one request, in which commas separate labels.
func (f *Forge) gitlabCalls(address string, change Change) ([]call, error) {
	body := map[string]any{}
	for key, names := range map[string][]string{"add_labels": change.Add, "remove_labels": change.Remove} {
		if len(names) > 0 {
			body[key] = strings.Join(names, ",")
		}
		for _, name := range names {
			if strings.Contains(name, ",") {
				return nil, f.failed("a label cannot have a comma: %s", strconv.Quote(name))
			}
		}
	}
	return []call{{method: http.MethodPut, address: address, body: body}}, nil
}

// giteaCalls takes labels off by their ids.
func (f *Forge) giteaCalls(ctx context.Context, at found, change Change) ([]call, error) {
	calls := adding(at.address, change)
	if len(change.Remove) == 0 {
		return calls, nil
	}
	r, err := f.get(ctx, at.address+"/labels", "", at.as)
	if err != nil {
		return nil, err
	}
	if !r.ok() {
		return nil, f.refused(r, at.as, question{"read", "labels"})
	}
	ids, err := labelIDs(r.body)
	if err != nil {
		return nil, f.failed("labels: %v", err)
	}
	for _, name := range change.Remove {
		if id, ok := ids[name]; ok {
			address := at.address + "/labels/" + strconv.FormatInt(id, 10)
			calls = append(calls, call{method: http.MethodDelete, address: address, gone: true})
		}
	}
	return calls, nil
}

// labelIDs reads Gitea's list of labels.
func labelIDs(data []byte) (map[string]int64, error) {
	var labels []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &labels); err != nil {
		return nil, issue.ErrNotJSON
	}
	ids := map[string]int64{}
	for _, l := range labels {
		ids[l.Name] = l.ID
	}
	return ids, nil
}

func (f *Forge) do(ctx context.Context, one call, as Credential, key checkpoint.Issue) error {
	var body io.Reader
	if one.body != nil {
		data, _ := json.Marshal(one.body) // texts alone
		body = bytes.NewReader(data)
	}
	req, err := request(one.method, one.address, body)
	if err != nil {
		return err
	}
	r, err := f.send(ctx, req, as)
	switch {
	case err != nil:
		return err
	case r.ok(), one.gone && r.status == http.StatusNotFound:
		return nil
	}
	return f.refused(r, as, question{"change", "the labels of issue " + string(key)})
}
