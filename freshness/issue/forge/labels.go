package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"git-checkpoint/freshness/issue"
	"git-checkpoint/gitstore/checkpoint"
)

// A LabelChange is labels to put on an issue, and to take off it.
type LabelChange struct{ Add, Remove []string }

// IsZero reports that there is nothing to change.
func (c LabelChange) IsZero() bool { return len(c.Add) == 0 && len(c.Remove) == 0 }

// maxChange is more labels than an issue can have on most forges. A checkpoint
// may come from anywhere.
const maxChange = 100

// check refuses what no forge has for a label. The path of one called ".." would
// be another one's.
func (c LabelChange) check() error {
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
	gone            bool     // 404 is as good as done
	lists           bool     // the answer lists the labels of the issue
	add, remove     []string // the part of the change
}

// SetLabels changes the labels of an issue and returns the part of the change
// that the issue has now. It needs a credential. It fails if a part is missing:
// a forge may drop a label that its project does not have, and report success.
func (f *Forge) SetLabels(ctx context.Context, key checkpoint.Issue, change LabelChange) (done LabelChange, err error) {
	if err := change.check(); err != nil {
		return done, f.failed("%v", err)
	}
	at, err := f.ask(ctx, key)
	if err != nil {
		return done, err
	}
	if at.as.IsZero() {
		return done, f.failed("it takes a token to change labels: %s", f.Site.Advice())
	}
	calls, err := f.calls(ctx, at, change)
	if err != nil {
		return done, err
	}
	defer f.outdate(key)
	for _, one := range calls {
		made, err := f.do(ctx, one, at.as, key)
		done.Add, done.Remove = append(done.Add, made.Add...), append(done.Remove, made.Remove...)
		if err != nil {
			return done, err
		}
	}
	return done, f.incomplete(change, done)
}

// incomplete is an error that names the labels which the forge did not change.
func (f *Forge) incomplete(change, done LabelChange) error {
	var parts []string
	if names := without(change.Add, done.Add); len(names) > 0 {
		parts = append(parts, "did not add "+quoted(names)+": does the project have such a label?")
	}
	if names := without(change.Remove, done.Remove); len(names) > 0 {
		parts = append(parts, "did not remove "+quoted(names))
	}
	if len(parts) == 0 {
		return nil
	}
	return f.failed("it %s", strings.Join(parts, "; it "))
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for n, name := range names {
		list[n] = strconv.Quote(name)
	}
	return strings.Join(list, ", ")
}

// without returns the names that are not among others, and with the others'
// names in whichever case: a forge has one label of both.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return hasFold(others, name) })
}

func hasFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(name, other) })
}

func (f *Forge) calls(ctx context.Context, at found, change LabelChange) ([]call, error) {
	switch f.Site.Kind {
	case GitLab:
		return f.gitlabCalls(at.address, change)
	case Gitea:
		return f.giteaCalls(ctx, at, change)
	}
	calls := adding(at.address, change)
	for _, name := range change.Remove {
		calls = append(calls, call{method: http.MethodDelete, address: at.address + "/labels/" + url.PathEscape(name), gone: true, remove: []string{name}})
	}
	return calls, nil
}

func adding(address string, change LabelChange) []call {
	if len(change.Add) == 0 {
		return nil
	}
	return []call{{method: http.MethodPost, address: address + "/labels", body: map[string]any{"labels": change.Add}, lists: true, add: change.Add}}
}

// gitlabCalls is one request, in which commas separate labels.
func (f *Forge) gitlabCalls(address string, change LabelChange) ([]call, error) {
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
	return []call{{method: http.MethodPut, address: address, body: body, lists: true, add: change.Add, remove: change.Remove}}, nil
}

// giteaCalls takes labels off by their ids.
func (f *Forge) giteaCalls(ctx context.Context, at found, change LabelChange) ([]call, error) {
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
		one := call{remove: []string{name}} // nothing to do
		if id, ok := ids[name]; ok {
			one.method, one.address, one.gone = http.MethodDelete, at.address+"/labels/"+strconv.FormatInt(id, 10), true
		}
		calls = append(calls, one)
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

// do makes a request, and returns the part of its change that is done.
func (f *Forge) do(ctx context.Context, one call, as Credential, key checkpoint.Issue) (done LabelChange, err error) {
	part := LabelChange{one.add, one.remove}
	if one.method == "" {
		return part, nil
	}
	var body io.Reader
	if one.body != nil {
		data, _ := json.Marshal(one.body) // texts alone
		body = bytes.NewReader(data)
	}
	req, err := request(one.method, one.address, body)
	if err != nil {
		return done, err
	}
	r, err := f.send(ctx, req, as)
	switch {
	case err != nil:
		return done, err
	case !r.ok() && !(one.gone && r.status == http.StatusNotFound):
		return done, f.refused(r, as, question{"change", "the labels of issue " + string(key)})
	case !one.lists:
		return part, nil
	}
	has, err := f.labelNames(r.body)
	if err != nil {
		return done, f.failed("labels: %v", err)
	}
	done.Add = slices.DeleteFunc(slices.Clone(part.Add), func(name string) bool { return !hasFold(has, name) })
	done.Remove = slices.DeleteFunc(slices.Clone(part.Remove), func(name string) bool { return slices.Contains(has, name) })
	return done, nil
}

// labelNames reads the labels of an issue from the answer to a change: GitLab
// sends the issue, the others send its labels.
func (f *Forge) labelNames(data []byte) ([]string, error) {
	if f.Site.Kind == GitLab {
		var doc struct {
			Labels *[]string `json:"labels"`
		}
		if err := json.Unmarshal(data, &doc); err != nil || doc.Labels == nil {
			return nil, issue.ErrNotJSON
		}
		return *doc.Labels, nil
	}
	ids, err := labelIDs(data)
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(ids)), nil
}
