package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"git-checkpoint/freshness/issue"
	"git-checkpoint/gitstore/checkpoint"
)

// A LabelChange lists labels to add to an issue and to remove from it.
type LabelChange struct{ Add, Remove []string }

// IsZero reports whether the change is empty.
func (c LabelChange) IsZero() bool { return len(c.Add) == 0 && len(c.Remove) == 0 }

// maxChange limits the labels of one change to more than most forges allow per issue.
// Checkpoints are untrusted input.
const maxChange = 100

// Check returns an error for names that no forge allows as a label. A label named ".."
// would change the request path.
func (c LabelChange) Check() error {
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

// A call is one request of a change. Labels are added before others are removed, so that
// an issue always has a state label. Each request names only its own labels, so that
// concurrent changes by others are kept.
type call struct {
	method, address string
	body            any
	gone            bool     // 404 means success if the issue has none of the removed labels
	lists           bool     // the response lists the issue's labels
	add, remove     []string // labels changed by this request
}

// SetLabels changes labels of an issue and returns the applied part of the change, and the
// labels that the forge removed because an added label excludes them. It needs a
// credential. It returns an error if a part is missing, since a forge may drop labels
// unknown to the project and report success.
func (f *Forge) SetLabels(ctx context.Context, key checkpoint.Issue, change LabelChange) (done LabelChange, err error) {
	if err := change.Check(); err != nil {
		return done, f.failed("%v", err)
	}
	at, err := f.ask(ctx, key)
	if err != nil {
		return done, err
	}
	if at.as.IsZero() {
		return done, f.failed("a token is required to change labels: %s", dialects()[f.Site.Kind].advice)
	}
	calls, err := f.calls(ctx, at, change)
	if err != nil {
		return done, err
	}
	defer func() { // the entry remains for the next conditional request
		if kept, _, ok := f.find(key); ok {
			kept.Seen = time.Time{}
			f.store(kept)
		}
	}()
	for _, one := range calls {
		made, now, err := f.do(ctx, one, at, key)
		done.Add, done.Remove = append(done.Add, made.Add...), append(done.Remove, made.Remove...)
		if err != nil {
			return done, err
		}
		if one.lists && f.Site.Kind != GitHub { // GitHub has no exclusive labels
			done.Remove = append(done.Remove, without(without(at.issue.Labels, now), change.Remove)...)
		}
	}
	return done, f.incomplete(change, done)
}

// incomplete returns an error that lists unchanged labels, or nil.
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

// without returns names missing from others. It ignores case, because forges treat labels
// as equal regardless of case.
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

// gitlabCalls returns one request with comma-separated labels.
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

// giteaCalls removes labels by id.
func (f *Forge) giteaCalls(ctx context.Context, at found, change LabelChange) ([]call, error) {
	calls := adding(at.address, change)
	if len(change.Remove) == 0 {
		return calls, nil
	}
	r, err := f.send(ctx, http.MethodGet, at.address+"/labels", nil, "", at.as)
	if err != nil {
		return nil, err
	}
	if !r.ok() {
		return nil, f.refused(r, at.as, "read", "labels")
	}
	ids, err := labelIDs(r.body)
	if err != nil {
		return nil, f.failed("labels: %v", err)
	}
	for _, name := range change.Remove {
		for _, id := range ids[name] {
			calls = append(calls, call{method: http.MethodDelete, address: at.address + "/labels/" + strconv.FormatInt(id, 10), gone: true})
		}
		calls = append(calls, call{remove: []string{name}}) // no request needed
	}
	return calls, nil
}

// labelIDs parses Gitea's list of labels. A label of the repository and a label of its
// organization can have the same name.
func labelIDs(data []byte) (map[string][]int64, error) {
	var labels []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &labels); err != nil {
		return nil, issue.ErrNotJSON
	}
	ids := map[string][]int64{}
	for _, l := range labels {
		ids[l.Name] = append(ids[l.Name], l.ID)
	}
	return ids, nil
}

// do sends one request. It returns the applied part of its change, and the labels in the
// response, if it lists them.
func (f *Forge) do(ctx context.Context, one call, at found, key checkpoint.Issue) (done LabelChange, now []string, err error) {
	part := LabelChange{one.add, one.remove}
	if one.method == "" {
		return part, nil, nil
	}
	r, err := f.send(ctx, one.method, one.address, one.body, "", at.as)
	refused := err == nil && !r.ok()
	if refused && one.gone && r.status == http.StatusNotFound {
		refused, err = f.hasLabels(ctx, at, one.remove)
	}
	switch {
	case err != nil:
		return done, nil, err
	case refused:
		return done, nil, f.refused(r, at.as, "change", "the labels of issue "+string(key))
	case !one.lists:
		return part, nil, nil
	}
	if now, err = f.labelNames(r.body); err != nil {
		return done, nil, f.failed("labels: %v", err)
	}
	done.Add = slices.DeleteFunc(slices.Clone(part.Add), func(name string) bool { return !hasFold(now, name) })
	done.Remove = slices.DeleteFunc(slices.Clone(part.Remove), func(name string) bool { return slices.Contains(now, name) })
	return done, now, nil
}

// hasLabels reports whether an issue has one of the labels now. GitHub answers 404 if the
// issue does not have a label, and also if the token may not remove it.
func (f *Forge) hasLabels(ctx context.Context, at found, names []string) (bool, error) {
	if len(names) == 0 {
		return false, nil
	}
	r, err := f.send(ctx, http.MethodGet, at.address, nil, "", at.as)
	if err != nil {
		return false, err
	}
	if !r.ok() {
		return true, nil
	}
	now, err := issue.ParseAnswer(r.body, dialects()[f.Site.Kind].names)
	if err != nil {
		return false, f.failed("labels: %v", err)
	}
	return len(without(names, now.Labels)) < len(names), nil
}

// labelNames parses labels from the response to a change: GitLab returns the issue, other
// forges return its labels.
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
