package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// SetLabels changes labels of an issue and returns the applied part of the change, and the
// labels that the forge removed because an added label excludes them. It needs a
// credential. GitHub and Gitea add labels first, so that an issue always has a state label,
// and then get the list without the removed ones. SetLabels returns an error if a part is
// missing, since a forge may drop labels unknown to the project and report success.
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
	defer func() { // the cached issue has the former labels
		if kept, _, ok := f.find(key); ok {
			kept.Seen = time.Time{}
			f.store(kept)
		}
	}()
	was := at.issue.Labels
	now := was
	write := func(method, address string, body map[string]any) error {
		r, err := f.send(ctx, method, address, body, at.as)
		switch {
		case err != nil:
			return err
		case !r.ok():
			return f.refused(r, at.as, "change", "the labels of issue "+string(key))
		}
		names, err := labelNames(r.body)
		if err != nil {
			return f.failed("labels: %v", err)
		}
		now = names
		return nil
	}
	if f.Site.Kind == GitLab {
		body := map[string]any{}
		for field, names := range map[string][]string{"add_labels": change.Add, "remove_labels": change.Remove} {
			if i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, ",") }); i >= 0 {
				return done, f.failed("a label cannot have a comma: %s", strconv.Quote(names[i]))
			}
			if len(names) > 0 {
				body[field] = strings.Join(names, ",")
			}
		}
		err = write(http.MethodPut, at.address, body)
	} else {
		if len(change.Add) > 0 {
			err = write(http.MethodPost, at.address+"/labels", map[string]any{"labels": change.Add})
		}
		left := slices.DeleteFunc(slices.Clone(now), func(name string) bool { return slices.Contains(change.Remove, name) })
		if err == nil && len(left) < len(now) {
			err = write(http.MethodPut, at.address+"/labels", map[string]any{"labels": left})
		}
	}
	done.Add = slices.DeleteFunc(slices.Clone(change.Add), func(name string) bool { return !hasFold(now, name) })
	done.Remove = slices.DeleteFunc(slices.Clone(change.Remove), func(name string) bool { return slices.Contains(now, name) })
	done.Remove = append(done.Remove, without(without(was, now), change.Remove)...)
	if err != nil {
		return done, err
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

// labelNames parses labels from the response to a change: GitLab returns the issue, other
// forges return its labels.
func labelNames(data []byte) ([]string, error) {
	var found struct{ Labels *[]string }
	if json.Unmarshal(data, &found) == nil && found.Labels != nil {
		return *found.Labels, nil
	}
	var labels []struct{ Name string }
	if json.Unmarshal(data, &labels) != nil || labels == nil {
		return nil, issue.ErrNotJSON
	}
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = l.Name
	}
	return names, nil
}
