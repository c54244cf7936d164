package checkpoint

import (
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Checks of record sections for Validate.

func (v *validator) workflow() {
	p, as := v.r.Progress(), v.r.Layout()
	_, err := strconv.Atoi(v.r.Phase())
	counted := err == nil && p.Total > 0 && len(p.Names) == 0
	if !counted && (as == "" || as == "crunch") { // other layouts define their own phases
		v.oneOf("workflow_state.current_phase", v.r.Phase(), slices.Concat(v.phases, p.Names), v.warn)
	}
	v.oneOf("issue_snapshot.state", v.r.IssueSnapshot().State, issueStates, v.warn)
}

func (v *validator) graph() {
	graph := v.r.section("execution_graph")
	if id := document.TextOf(graph, "graph_id"); id != "" && !graphID().MatchString(id) {
		v.warn("execution_graph.graph_id", "%.60q does not begin with GRAPH-", id)
	}
	done, current := v.r.CompletedBatches(), v.r.CurrentBatch()
	for k, n := range done {
		path := document.JoinIndex("execution_graph.completed_batches", k)
		if k > 0 && n <= done[k-1] {
			v.warn(path, "%d after %d: want them ascending", n, done[k-1])
		}
		if current > 0 && n >= current {
			v.warn(path, "%d is completed but the current batch is %d", n, current)
		}
	}
	nodes, _ := graph.Child("node_states")
	for id, node := range nodes.All() {
		m, _ := node.(*Map)
		path := document.JoinPath("execution_graph.node_states", id)
		if document.TextOf(m, "status") == "" {
			v.fail(path, "no status")
		}
		v.oneOf(path+".status", document.TextOf(m, "status"), nodeStatuses, v.fail)
	}
}

func (v *validator) messages() {
	acp := v.r.section("acp_state")
	for _, key := range []string{"pending_messages", "awaiting_response"} {
		for k, id := range document.TextsOf(acp, key) {
			if !messageID().MatchString(id) {
				v.warn(document.JoinIndex("acp_state."+key, k), "%.60q is not of the form MSG-<milliseconds>-<8 hex>", id)
			}
		}
	}
}

func (v *validator) files() {
	for k, m := range mappings(v.r.doc, "files_modified") {
		path := document.JoinIndex("files_modified", k)
		v.path(path+".path", document.TextOf(m, "path"))
		v.oneOf(path+".status", document.TextOf(m, "status"), fileStatuses, v.warn)
	}
}

func (v *validator) path(at, path string) {
	if path == "" {
		v.fail(at, "missing")
		return
	}
	_, err := UnquotePath(path)
	v.failIf(at, err)
}

func (v *validator) snapshot() {
	m := v.r.section("snapshot")
	for _, id := range append([]string{document.TextOf(m, "head")}, document.TextsOf(m, "merge_head")...) {
		if id != "" && !isHex(id, 40, 40) && !isHex(id, 64, 64) {
			v.fail("snapshot", "%.60q is not a commit", id)
		}
	}
	for _, key := range []string{"deleted", "intent_to_add"} {
		for k, path := range document.TextsOf(m, key) {
			v.path(document.JoinIndex("snapshot."+key, k), path)
		}
	}
	for k, f := range mappings(m, "skipped") {
		v.path(document.JoinIndex("snapshot.skipped", k)+".path", document.TextOf(f, "path"))
	}
}

func (v *validator) progress() {
	p := v.r.Progress()
	if p.Total > 0 && len(p.Completed) > p.Total {
		v.warn("progress.completed", "%d phases are completed of %d", len(p.Completed), p.Total)
	}
	if len(p.Names) == 0 {
		return
	}
	known := map[string]bool{}
	for _, name := range p.Names {
		known[name] = true
	}
	unknown := slices.DeleteFunc(slices.Clone(p.Completed), func(s string) bool { return known[s] })
	if len(unknown) > 0 {
		v.warn("progress.completed", "not among the names: %.200s", strings.Join(unknown, ", "))
	}
}
