package checkpoint

import "git-checkpoint/gitstore/checkpoint/document"

// File is an entry of files_modified. Path is unquoted.
type File struct {
	Path, Status string
	Staged       bool
}

// Output is an output file of an agent, a phase or a task. Agent is empty for a phase.
// Digest is the file's digest at the save, "" if unknown.
type Output struct{ Agent, Action, Location, Digest string }

// Files returns files_modified.
func (r *Record) Files() []File {
	var out []File
	for _, m := range mappings(r.doc, "files_modified") {
		out = append(out, File{
			Path:   unquoted(document.TextOf(m, "path")),
			Status: document.TextOf(m, "status"),
			Staged: boolean(m, "staged", false),
		})
	}
	return out
}

// SetFiles replaces files_modified.
func (r *Record) SetFiles(files []File) {
	l := make([]any, len(files))
	for k, f := range files {
		l[k] = &Map{Entries: []document.Entry{
			{Key: "path", Value: QuotePath(f.Path)},
			{Key: "status", Value: f.Status},
			{Key: "staged", Value: f.Staged},
		}}
	}
	r.doc.Set("files_modified", l)
}

// Outputs returns, in document order, agent outputs with an output_location, then phase
// outputs, then outputs of completed tasks.
func (r *Record) Outputs() []Output {
	var out []Output
	for agent, v := range r.section("agent_outputs").All() {
		actions, _ := v.(*Map)
		for action, v := range actions.All() {
			m, _ := v.(*Map)
			if place := document.TextOf(m, "output_location"); place != "" {
				out = append(out, Output{agent, action, place, document.TextOf(m, "output_digest")})
			}
		}
	}
	phases, _ := r.section("progress").Child("phases")
	for phase, v := range phases.All() {
		m, _ := v.(*Map)
		if place := document.TextOf(m, "output"); place != "" {
			out = append(out, Output{"", phase, unquoted(place), document.TextOf(m, "output_digest")})
		}
	}
	return append(out, r.taskOutputs()...)
}

// taskAgent replaces the agent of a task's output. The digest of such an output dates
// from the task's completion.
const taskAgent = ":task"

func (r *Record) taskOutputs() []Output {
	var out []Output
	add := func(id string, m *Map) {
		if place := document.TextOf(m, "output"); place != "" && document.TextOf(m, "status") == "complete" {
			out = append(out, Output{taskAgent, id, place, document.TextOf(m, "output_digest")})
		}
	}
	for id, v := range r.section("tasks").All() {
		m, _ := v.(*Map)
		add(id, m)
	}
	for _, m := range mappings(r.doc, "tasks") {
		add(document.TextOf(m, "id"), m)
	}
	return out
}

// PhaseArtifacts returns the artifact paths of all phases in document order.
func (r *Record) PhaseArtifacts() []string {
	var out []string
	phases, _ := r.section("progress").Child("phases")
	for _, v := range phases.All() {
		m, _ := v.(*Map)
		for _, a := range mappings(m, "artifacts") {
			if p := document.TextOf(a, "path"); p != "" {
				out = append(out, unquoted(p))
			}
		}
	}
	return out
}

// SetOutputDigest sets the digest of an existing output. An empty digest deletes the key.
func (r *Record) SetOutputDigest(agent, action, digest string) {
	if agent == "" {
		phases, _ := r.section("progress").Child("phases")
		if m, ok := phases.Child(action); ok {
			setOrDelete(m, "output_digest", digest)
		}
		return
	}
	actions, _ := r.section("agent_outputs").Child(agent)
	if m, ok := actions.Child(action); ok {
		setOrDelete(m, "output_digest", digest)
	}
}

// unquoted returns the unquoted path, or s itself if s is invalid, which Validate
// reports.
func unquoted(s string) string {
	if p, err := UnquotePath(s); err == nil {
		return p
	}
	return s
}

func paths(m *Map, key string) []string {
	l := document.TextsOf(m, key)
	for k := range l {
		l[k] = unquoted(l[k])
	}
	return l
}

func quotedPaths(l []string) []string {
	out := make([]string, len(l))
	for k := range l {
		out[k] = QuotePath(l[k])
	}
	return out
}
