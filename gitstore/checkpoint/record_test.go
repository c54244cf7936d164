package checkpoint

import (
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint/document"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEmptyRecord(t *testing.T) {
	r := FromDoc(nil)
	assert.Empty(t, r.ID())
	assert.True(t, r.CanResume(), "a record that does not say may be resumed")
	assert.True(t, r.PrerequisitesMet())
	assert.Zero(t, r.Snapshot())
	assert.Zero(t, r.Progress())
	assert.Zero(t, r.IssueSnapshot())
	assert.Empty(t, r.Files())
	assert.Empty(t, r.Outputs())
	assert.Empty(t, r.PendingCaptures())
	assert.Zero(t, r.Doc().Len(), "reading made a section")
	assert.False(t, valid(r.Validate()))
}

// Accessors accept sections of the wrong kind without a panic.
func TestAccessorsAcceptAnyDocument(t *testing.T) {
	for _, v := range []any{nil, true, "x", Number("1"), []any{"x", nil, []any{}}, doc(t, "a: {b: [1]}\ntasks: 1")} {
		m := NewMap()
		for _, f := range recordSchema().fields {
			m.Set(f.name, document.Clone(v))
		}
		r := FromDoc(m)
		r.Files()
		r.Outputs()
		r.Snapshot()
		r.Progress()
		r.IssueSnapshot()
		r.CreatedAt()
		r.CompletedBatches()
		r.Warnings()
		r.Validate()
		r.SetSnapshot(Snapshot{Head: "x"})
		assert.Equal(t, "x", r.Snapshot().Head)
	}
}

func TestIssueSnapshot(t *testing.T) {
	r := New()
	r.SetBranch("")
	assert.False(t, r.IssueSnapshot().Known)
	branch, there := r.Doc().Lookup("issue_snapshot.branch")
	assert.True(t, there, "a detached HEAD is null, not absent")
	assert.Nil(t, branch)

	s := IssueSnapshot{Title: "t", Body: "b\n\n", Labels: []string{"z", "a"}, Assignees: []string{}, State: "open", Source: "file", Known: true}
	r.SetIssueSnapshot(s)
	labels, _ := r.Doc().Lookup("issue_snapshot.labels")
	assert.Equal(t, []any{"a", "z"}, labels, "stored sorted")
	got := r.IssueSnapshot()
	assert.Equal(t, s.Labels, got.Labels, "the order they had")
	assert.Equal(t, "b\n\n", got.Body)
	assert.True(t, got.Known)

	r.SetBranch("main")
	r.SetIssueSnapshot(IssueSnapshot{})
	assert.False(t, r.IssueSnapshot().Known)
	assert.Equal(t, "main", r.Branch())

	r.SetIssueSnapshot(IssueSnapshot{Title: "t", BodyDigest: "sha256:00", Known: true})
	_, there = r.Doc().Lookup("issue_snapshot.body")
	assert.False(t, there)
}

func TestValidate(t *testing.T) {
	base := string(read(t, vectors+"full.yaml"))
	tests := []struct {
		path string
		v    any
		at   string
		fail bool
	}{
		{"checkpoint_id", "a b", "checkpoint_id", true},
		{"checkpoint_id", nil, "checkpoint_id", true},
		{"checkpoint_id", "cp-1", "checkpoint_id", false},
		{"version", nil, "version", false},
		{"created_at", nil, "created_at", true},
		{"created_at", "soon", "created_at", true},
		{"created_at", "2026-02-14 14:30", "created_at", false},
		{"issue_number", "", "issue_number", true},
		{"trigger", "Batch Complete", "trigger", true},
		{"trigger", "my_own", "trigger", false},
		{"workflow_state.phase_attempt", -1, "workflow_state.phase_attempt", true},
		{"workflow_state.phase_attempt", "2", "workflow_state.phase_attempt", false},
		{"team_state.members[0].tasks_pending", -2, "team_state.members[0].tasks_pending", true},
		{"execution_graph.graph_id", "G", "execution_graph.graph_id", false},
		{"execution_graph.completed_batches", []int{2, 1}, "execution_graph.completed_batches[1]", false},
		{"execution_graph.completed_batches", []int{3}, "execution_graph.completed_batches[0]", false},
		{"execution_graph.node_states.task-001.status", "dreaming", "execution_graph.node_states.task-001.status", true},
		{"execution_graph.node_states.task-001.started_at", "x", "execution_graph.node_states.task-001.started_at", true},
		{"acp_state.pending_messages", []string{"MSG-1"}, "acp_state.pending_messages[0]", false},
		{"files_modified[0].path", `"x"`, "files_modified[0].path", true},
		{"files_modified[0].status", "touched", "files_modified[0].status", false},
		{"snapshot.head", "HEAD", "snapshot.head", true},
		{"snapshot.skipped[0].size", -1, "snapshot.skipped[0].size", true},
		{"clock", -1, "clock", true},
		{"progress.total", 1, "progress.completed", false},
		{"issue_snapshot.state", "ajar", "issue_snapshot.state", false},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			r, err := Decode([]byte(base))
			require.NoError(t, err)
			require.NoError(t, r.Doc().Assign(tt.path, tt.v))
			problems := r.Validate()
			require.Len(t, problems, 1, "%v", problems)
			assert.Equal(t, tt.at, problems[0].Path)
			assert.Equal(t, tt.fail, !problems[0].Warning, problems[0].Msg)
			assert.NotEmpty(t, problems[0].Msg)
		})
	}
	r, err := Decode([]byte(base))
	require.NoError(t, err)
	r.SetPhase("party")
	assert.Empty(t, r.Validate("party"))
}

func TestProblemsAreBounded(t *testing.T) {
	r := New()
	l := make([]any, 50_000)
	for k := range l {
		l[k] = "MSG"
	}
	require.NoError(t, r.Doc().Assign("acp_state.pending_messages", l))
	assert.LessOrEqual(t, len(r.Validate()), 2*maxProblems)
}

// Encode rejects values that Decode would reject, possible after a merge.
func TestEncodeChecksKinds(t *testing.T) {
	for _, c := range []struct{ path, value, want string }{
		{"workflow_state.phase_attempt", "many", "workflow_state.phase_attempt: want an integer, got text"},
		{"files_modified", "x", "files_modified: want a list, got text"},
		{"execution_graph.node_states", `{"a": "done"}`, "execution_graph.node_states.a: want a mapping, got text"},
		{"acp_state.pending_messages", "[1, null]", "acp_state.pending_messages[1]: want no empty element, got null"},
		{"recovery_info.can_resume", "maybe", "recovery_info.can_resume: want true or false, got text"},
	} {
		r := New()
		require.NoError(t, r.Doc().Assign(c.path, ParseValue(c.value)))
		var syntax *SyntaxError
		require.ErrorAs(t, r.Check(), &syntax, c.path)
		assert.Equal(t, c.want, syntax.Error())
		_, err := r.Encode()
		require.ErrorAs(t, err, &syntax, c.path)
	}
	require.NoError(t, New().Check())
}

// valid reports whether ps contains only warnings.
func valid(ps []Problem) bool {
	return !slices.ContainsFunc(ps, func(p Problem) bool { return !p.Warning })
}

func TestEveryFieldIsDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Fields() {
		assert.NotEmpty(t, f.Text, f.Path)
		assert.NotEmpty(t, f.Kind, f.Path)
		assert.False(t, strings.HasSuffix(f.Text, "."), f.Path)
		assert.False(t, seen[f.Path], f.Path)
		seen[f.Path] = true
	}
	for _, path := range []string{
		"checkpoint_id", "team_state.members[].role", "execution_graph.node_states.NAME.status",
		"agent_outputs.NAME.NAME.output_digest", "lineage.fork.checkpoint_id", "snapshot.skipped[].carried_from",
	} {
		assert.True(t, seen[path], path)
	}
}
