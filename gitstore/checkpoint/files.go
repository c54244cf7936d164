package checkpoint

// File is one entry of files_modified. Path is the path itself, not its
// quoted form.
type File struct {
	Path, Status string
	Staged       bool
}

// Output is one entry of agent_outputs that names a place, or the output of a
// phase, which is an Action without an Agent. Digest is what was there at the
// save, "" where that is not known.
type Output struct{ Agent, Action, Location, Digest string }

// Files returns files_modified.
func (r *Record) Files() []File {
	var out []File
	for _, m := range mappings(r.doc, "files_modified") {
		out = append(out, File{
			Path:   unquoted(text(m, "path")),
			Status: text(m, "status"),
			Staged: boolean(m, "staged", false),
		})
	}
	return out
}

// SetFiles replaces files_modified.
func (r *Record) SetFiles(files []File) {
	l := make([]any, len(files))
	for k, f := range files {
		l[k] = &Map{entries: []entry{
			{"path", QuotePath(f.Path)},
			{"status", f.Status},
			{"staged", f.Staged},
		}}
	}
	r.doc.Set("files_modified", l)
}

// Outputs returns the agent_outputs that have an output_location, then the
// outputs of phases and of tasks that are complete, in the order they are
// written.
func (r *Record) Outputs() []Output {
	var out []Output
	for agent, v := range r.section("agent_outputs").All() {
		actions, _ := v.(*Map)
		for action, v := range actions.All() {
			m, _ := v.(*Map)
			if place := text(m, "output_location"); place != "" {
				out = append(out, Output{agent, action, place, text(m, "output_digest")})
			}
		}
	}
	phases, _ := r.section("progress").child("phases")
	for phase, v := range phases.All() {
		m, _ := v.(*Map)
		if place := text(m, "output"); place != "" {
			out = append(out, Output{"", phase, unquoted(place), text(m, "output_digest")})
		}
	}
	return append(out, r.taskOutputs()...)
}

// taskAgent stands for the agent of a task's output, which has none. Its digest
// is that of the moment when the task was done.
const taskAgent = ":task"

func (r *Record) taskOutputs() []Output {
	var out []Output
	add := func(id string, m *Map) {
		if place := text(m, "output"); place != "" && text(m, "status") == "complete" {
			out = append(out, Output{taskAgent, id, place, text(m, "output_digest")})
		}
	}
	for id, v := range r.section("tasks").All() {
		m, _ := v.(*Map)
		add(id, m)
	}
	for _, m := range mappings(r.doc, "tasks") {
		add(text(m, "id"), m)
	}
	return out
}

// PhaseArtifacts returns the paths of what the phases left behind, in the order
// they are written.
func (r *Record) PhaseArtifacts() []string {
	var out []string
	phases, _ := r.section("progress").child("phases")
	for _, v := range phases.All() {
		m, _ := v.(*Map)
		for _, a := range mappings(m, "artifacts") {
			if p := text(a, "path"); p != "" {
				out = append(out, unquoted(p))
			}
		}
	}
	return out
}

// SetOutputDigest sets what is at the place of an output; empty text removes
// it. An output that is not recorded stays so.
func (r *Record) SetOutputDigest(agent, action, digest string) {
	if agent == "" {
		phases, _ := r.section("progress").child("phases")
		if m, ok := phases.child(action); ok {
			setOrDelete(m, "output_digest", digest)
		}
		return
	}
	actions, _ := r.section("agent_outputs").child(agent)
	if m, ok := actions.child(action); ok {
		setOrDelete(m, "output_digest", digest)
	}
}

// unquoted falls back to the text as it is: Validate reports it.
func unquoted(s string) string {
	if p, err := UnquotePath(s); err == nil {
		return p
	}
	return s
}

func paths(m *Map, key string) []string {
	l := texts(m, key)
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
