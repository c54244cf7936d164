package progress

import (
	"path"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A Query selects a workflow by text, plan or id.
type Query struct {
	Text string   // description, project or plan; "" matches nothing
	Plan string   // plan path relative to the root; "" matches nothing
	IDs  []string // workflow ids or issue keys
}

// Match returns the quality of a match between record and query. Plan, id, issue and
// description score 3, project 2, the plan as text 1, and no match 0.
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

// Alike reports whether two different project names share a prefix: one name starts with
// the other.
func Alike(a, b string) bool {
	a, b = strings.ReplaceAll(plain(a), " ", "_"), strings.ReplaceAll(plain(b), " ", "_")
	return a != "" && b != "" && a != b && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// plain returns s in lower case with single spaces.
func plain(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func samePlan(a, b string) bool { return a != "" && path.Clean(a) == path.Clean(b) }
