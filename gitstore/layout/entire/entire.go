// Package entire reads the session metadata of the tool entire. The tool has a
// metadata.json for each checkpoint and each of its sessions. Nothing is written.
package entire

import (
	"cmp"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// Name is the name of the read-only source.
const Name codec.Name = "entire"

// System returns the tool entire.
func System() *codec.System {
	return &codec.System{
		Name: Name, Kinds: []*codec.Kind{metadataKind()},
		Other: func(m *checkpoint.Map) string {
			if isMetadata(m) {
				return "the metadata of an agent's session, of none of the five layouts: import --from entire reads it"
			}
			return ""
		},
	}
}

// metadataKind returns the kind for the metadata of a checkpoint or session. Several
// keys were renamed over time; all keys are preserved.
func metadataKind() *codec.Kind {
	return &codec.Kind{
		Name: "metadata", Numbered: true,
		Is: isMetadata,
		Rules: func(c *codec.Checker) {
			c.Required("checkpoint_id")
			c.Text("checkpoint_id", "session_id", "strategy", "branch", "agent", "cli_version")
			c.Time("created_at")
			c.Number("checkpoints_count", 0, codec.AnyNumber, true)
			c.Mapping("token_usage")
			if v, ok := c.Given("agents"); ok && len(values.Texts(v)) == 0 {
				c.Warn("agents", "kind", "want text or a list of texts, got %s", codec.Shown(v))
			}
			for i, file := range values.Texts(values.Get(c.Doc, "files_touched")) {
				if values.Absolute(file) {
					c.Warn(checkpoint.PathOf("files_touched", i), "place", "%s is a path of a single machine", codec.Shown(file))
				}
			}
		},
		Key: func(m *checkpoint.Map) string {
			issue, _ := checkpoint.IssueFromBranch(values.Text(m, "branch"), nil, nil)
			return cmp.Or(string(issue), values.Text(m, "branch"))
		},
		ID:      func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id") },
		At:      func(m *checkpoint.Map) any { return values.Get(m, "created_at") },
		Trigger: func(*checkpoint.Map) checkpoint.Trigger { return checkpoint.SessionEnd },
		Apply:   apply,
		File:    func(*checkpoint.Map) string { return "metadata.json" },
	}
}

func isMetadata(m *checkpoint.Map) bool {
	return values.Has(m, "checkpoint_id") && values.HasAny(m, "session_id", "sessions")
}

func apply(m *checkpoint.Map, r *checkpoint.Record) {
	workflow.Set(r, "type", "session", "description", values.Text(m, "summary.intent"), "updated_at", values.Text(m, "created_at"))
	if id := values.Text(m, "session_id"); id != "" {
		r.SetSession(id)
	}
	if branch := values.Text(m, "branch"); branch != "" {
		r.SetBranch(branch)
	}
	r.SetNote(values.Text(m, "summary.outcome"))
	var files []checkpoint.File
	for _, file := range values.Texts(values.Get(m, "files_touched")) {
		files = append(files, checkpoint.File{Path: file, Status: "modified"})
	}
	r.SetFiles(files)
}
