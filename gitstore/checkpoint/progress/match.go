package progress

import (
	"path"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A Query looks for a workflow: by what a person calls it, or by its plan.
type Query struct {
	Text string   // its description, project or plan, "" for any
	Plan string   // its plan, relative to the root, "" for any
	IDs  []string // ids that it may go by
}

// Match returns how well a record answers the query: 0 is not at all, and its
// description says more than its project or its plan do.
func (q Query) Match(r *checkpoint.Record) int {
	w := r.Doc().Sub("workflow")
	plan := r.PlanPath()
	switch text := plain(q.Text); {
	case q.Plan != "" && samePlan(plan, q.Plan), w.Text("id") != "" && slices.Contains(q.IDs, w.Text("id")), slices.Contains(q.IDs, string(r.Issue())):
		return 3
	case text == "":
		return 0
	case text == plain(w.Text("description")):
		return 3
	case text == plain(w.Text("project")), text == plain(strings.ReplaceAll(w.Text("project"), "_", " ")):
		return 2
	case plan != "" && samePlan(plan, q.Text):
		return 1
	}
	return 0
}

// Alike reports whether one of two names of projects is the beginning of the
// other, and they are not the same.
func Alike(a, b string) bool {
	a, b = strings.ReplaceAll(plain(a), " ", "_"), strings.ReplaceAll(plain(b), " ", "_")
	return a != "" && b != "" && a != b && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// plain is a text as people compare it: without case, and with single spaces.
func plain(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func samePlan(a, b string) bool { return a != "" && path.Clean(a) == path.Clean(b) }
