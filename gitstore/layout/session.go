package layout

import "git-checkpoint/gitstore/checkpoint"

// Entire is a read-only source: the session metadata of the tool entire. It has a
// metadata.json for each checkpoint and each of its sessions.
const Entire Name = "entire"

// entireSystem returns the tool entire.
func entireSystem() *system {
	return &system{
		name: Entire, kinds: []*kind{entireMetadata()},
		other: func(m *object) string {
			if isEntire(m) {
				return "the metadata of an agent's session, of none of the five layouts: import --from entire reads it"
			}
			return ""
		},
	}
}

// entireMetadata returns the kind for the metadata of a checkpoint or session. Several
// keys were renamed over time; all keys are preserved.
func entireMetadata() *kind {
	return &kind{
		name: "metadata", numbered: true,
		is: isEntire,
		rules: func(c *checker) {
			c.required("checkpoint_id")
			c.text("checkpoint_id", "session_id", "strategy", "branch", "agent", "cli_version")
			c.time("created_at")
			c.number("checkpoints_count", 0, anyNumber, true)
			c.mapping("token_usage")
			if v, ok := c.given("agents"); ok && len(texts(v)) == 0 {
				c.warn("agents", "kind", "want text or a list of texts, got %s", shown(v))
			}
			for i, file := range texts(get(c.doc, "files_touched")) {
				if absolute(file) {
					c.warn(checkpoint.PathOf("files_touched", i), "place", "%s is a path of one machine", shown(file))
				}
			}
		},
		key: func(m *object) string {
			issue, _ := checkpoint.IssueFromBranch(text(m, "branch"), nil)
			return string(issue)
		},
		id: func(m *object) string { return text(m, "checkpoint_id") },
		at: func(m *object) any { return get(m, "created_at") },
		trigger: func(*object) checkpoint.Trigger {
			return checkpoint.SessionEnd
		},
		apply:  applyEntire,
		file:   func(*object) string { return "metadata.json" },
		indent: defaultIndent,
	}
}

func isEntire(m *object) bool { return has(m, "checkpoint_id") && hasAny(m, "session_id", "sessions") }

func applyEntire(m *object, r *checkpoint.Record) {
	setWorkflow(r, "type", "session", "description", text(m, "summary.intent"), "updated_at", text(m, "created_at"))
	if id := text(m, "session_id"); id != "" {
		r.SetSession(id)
	}
	if branch := text(m, "branch"); branch != "" {
		r.SetBranch(branch)
	}
	r.SetNote(text(m, "summary.outcome"))
	var files []checkpoint.File
	for _, file := range texts(get(m, "files_touched")) {
		files = append(files, checkpoint.File{Path: file, Status: "modified"})
	}
	r.SetFiles(files)
}
