package freshness

import (
	"slices"
	"strings"
)

// checkIssue reports a failed comparison of the issue, and changes of fields other than
// labels and body.
func checkIssue(in input) []Reason {
	now := in.facts.Issue
	switch {
	case now == nil && (in.issue.Known || in.facts.NoIssue != ""):
		return []Reason{unchecked("issue", "Issue", in.facts.NoIssue)}
	case now == nil:
		return nil
	}
	var out []Reason
	if now.State == "closed" && in.issue.State != "closed" {
		out = append(out, reason("issue", ProceedWithWarning, "Issue is closed"))
	}
	if in.issue.Known {
		out = append(out, in.title()...)
		out = append(out, in.assignees()...)
		out = append(out, in.absent()...)
	}
	return out
}

// comparable reports whether both checkpoint and source have the field.
func (in input) comparable(field string) bool {
	return in.recorded(field) && in.facts.Issue.Has(field)
}

// recorded reports whether the document contains the field. An empty list of labels
// counts as recorded. A body may be recorded by its digest only.
func (in input) recorded(field string) bool {
	v, _ := in.record.Doc().Lookup("issue_snapshot." + field)
	return v != nil || field == "body" && in.issue.BodyDigest != ""
}

func (in input) title() []Reason {
	before, now := strings.TrimSpace(in.issue.Title), strings.TrimSpace(in.facts.Issue.Title)
	if !in.comparable("title") || before == now {
		return nil
	}
	r := reason("issue", ProceedWithWarning, "Issue title changed since checkpoint")
	r.Detail = []string{quoted(before) + " -> " + quoted(now)}
	return []Reason{r}
}

func (in input) assignees() []Reason {
	before, now := set(in.issue.Assignees), set(in.facts.Issue.Assignees)
	if !in.comparable("assignees") || slices.Equal(before, now) {
		return nil
	}
	r := reason("issue", ProceedWithWarning, "Issue assignees changed since checkpoint")
	r.Detail = append(listed("added", minus(now, before)), listed("removed", minus(before, now))...)
	return []Reason{r}
}

// absent reports fields present in the checkpoint and missing from the source.
func (in input) absent() []Reason {
	recorded := []struct {
		field string
		has   bool
	}{
		{"title", in.issue.Title != ""},
		{"body", in.issue.Body != "" || in.issue.BodyDigest != ""},
		{"labels", len(in.issue.Labels) > 0},
		{"assignees", len(in.issue.Assignees) > 0},
		{"state", in.issue.State != ""},
	}
	var out []Reason
	for _, f := range recorded {
		if f.has && !in.facts.Issue.Has(f.field) {
			out = append(out, unchecked("issue", "Issue "+f.field, in.source()+" does not have it"))
		}
	}
	return out
}

func (in input) source() string {
	if in.facts.Issue.Source == "" {
		return "the source"
	}
	return in.facts.Issue.Source
}
