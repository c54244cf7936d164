package checkpoint

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Check returns a *SyntaxError without a position if a schema field has a value of the
// wrong kind. Merges and assignments can cause such values.
func (r *Record) Check() error {
	if err := recordSchema().check(r.doc); err != nil {
		slices.Reverse(err.path)
		return &SyntaxError{Path: pathText(err.path), Msg: err.msg}
	}
	return nil
}

// recordSchema is the crunch schema with trigger, then git-checkpoint's own keys, then
// sections of other layouts. It defines the order of the text.
var recordSchema = sync.OnceValue(func() *schema {
	ruleMessage := form(`^MSG-[0-9]{13}-[0-9a-f]{8}$`, "is not of the form MSG-<milliseconds>-<8 hex>")
	return fields(
		field{"checkpoint_id", textKind, ruleID, "CP-<phase>-<YYYYMMDDTHHMMSSZ>-<8 hex>, or an imported id", nil},
		field{"version", versionKind, nil, `"1.0"; another major version is refused`, nil},
		field{"created_at", timeKind, nil, "time of the save, with microseconds, in UTC", nil},
		field{"trigger", textKind, ruleTrigger, "cause of the checkpoint, which decides its retention", nil},
		field{"issue_number", textKind, ruleIssue, "key of the issue, an integer if possible", nil},
		field{"session_id", textKind, nil, "session of the worktree that saved", nil},
		field{"workflow_state", mapKind, nil, "where the work stands", fields(
			field{"current_phase", textKind, nil, "name of the current phase", nil},
			field{"current_state_label", textKind, nil, "label of the issue for the phase", nil},
			field{"phase_started_at", timeKind, nil, "start of the current phase", nil},
			field{"phase_attempt", intKind, nil, "number of the attempt of the current phase", nil},
			field{"phase_attempts", mapKind, nil, "number of attempts of each former phase, integers", dict(intKind, nil)},
		)},
		field{"issue_snapshot", mapKind, nil, "the issue at the save", fields(
			field{"title", textKind, nil, "title", nil},
			field{"body", textKind, nil, "body; a resume compares it", nil},
			field{"body_digest", textKind, nil, "digest of the body, if the body is not kept", nil},
			field{"labels", textsKind, nil, "labels, sorted", nil},
			field{"assignees", textsKind, nil, "names of the assignees", nil},
			field{"branch", textKind, nil, "branch of the work", nil},
			field{"labels_order", textsKind, nil, "labels in the order of the source, if it is another", nil},
			field{"state", textKind, word(issueStates, false), "state of the issue: open or closed", nil},
			field{"source", textKind, nil, "where the issue was read", nil},
		)},
		field{"team_state", mapKind, nil, "agents that work together", fields(
			field{"team_id", textKind, nil, "id of the team", nil},
			field{"members", mapsKind, nil, "agents of the team", fields(
				field{"agent", textKind, nil, "name of the agent", nil},
				field{"role", textKind, nil, "role in the team", nil},
				field{"status", textKind, nil, "status of the agent", nil},
				field{"tasks_completed", intKind, nil, "number of completed tasks", nil},
				field{"tasks_pending", intKind, nil, "number of open tasks", nil},
			)},
		)},
		field{"execution_graph", mapKind, nil, "batches and tasks of the current phase", graphSchema()},
		field{"agent_outputs", mapKind, nil, "outputs by phase and agent", dict(mapKind, dict(mapKind, fields(
			field{"completed_at", timeKind, nil, "end", nil},
			field{"output_summary", textKind, nil, "summary of the output", nil},
			field{"output_location", textKind, nil, "path of the output", nil},
			field{"output_digest", textKind, nil, `content at the save: "blob:" and the object id of its git blob`, nil},
		)))},
		field{"acp_state", mapKind, nil, "messages between agents", fields(
			field{"pending_messages", textsKind, ruleMessage, "ids of messages that are not delivered", nil},
			field{"awaiting_response", textsKind, ruleMessage, "ids of messages without an answer", nil},
			field{"conflicts_in_progress", textsKind, nil, "conflicts that are not resolved", nil},
		)},
		field{"knowledge_context", mapKind, nil, "entries of a knowledge base", fields(
			field{"injected_entries", textsKind, nil, "entries that were given to the agent", nil},
			field{"captured_entries", textsKind, nil, "entries that were written", nil},
			field{"pending_captures", listKind, nil, "entries to be written", nil},
		)},
		field{"files_modified", mapsKind, nil, "files that differed from HEAD", fields(
			field{"path", textKind, rulePath, "path from the root, in the quotes of git if it is not plain", nil},
			field{"status", textKind, word(fileStatuses, false), "status of the file: added, modified, deleted, renamed, copied, typechange, untracked or conflicted", nil},
			field{"staged", boolKind, nil, "whether the change was staged", nil},
		)},
		field{"recovery_info", mapKind, nil, "what a resume needs", fields(
			field{"can_resume", boolKind, nil, "whether a resume may continue; true if absent", nil},
			field{"resume_from", textKind, nil, "the point to continue from, in words", nil},
			field{"prerequisites_met", boolKind, nil, "whether the needs of the next step are met; true if absent", nil},
			field{"warnings", textsKind, nil, "warnings for the person who resumes", nil},
		)},
		field{"note", textKind, nil, "note of a person (save -m)", nil},
		field{"agent_turn", mapKind, nil, "last ended turn of an agent", fields(
			field{"number", intKind, ruleTurn, "number of ended turns, below 2^31", nil},
			field{"agent", textKind, nil, "name of the agent", nil},
			field{"request", textKind, nil, "last request of a person, shortened", nil},
			field{"asked", intKind, nil, "turn in which it was asked", nil},
			field{"answer", textKind, nil, "end of the agent's answer, shortened", nil},
			field{"hand", boolKind, nil, "whether it has the changes of a person between turns", nil},
			field{"usage", mapsKind, nil, "tokens of the turn by model", spentSchema()},
			field{"usage_of", textKind, nil, "identity of the turn in its agent's transcript", nil},
			field{"written", mapKind, nil, "turn in which each kept text was written, integers", dict(intKind, nil)},
			field{"started", mapKind, nil, "turn in which each running task started, integers", dict(intKind, nil)},
			field{"spent", mapsKind, nil, "tokens of all turns by agent, model and phase", spentSchema()},
			field{"commits", textsKind, ruleHash, "commits that the agent made in the turn, with the hash algorithm", nil},
		)},
		field{"lineage", mapKind, nil, "where the chain came from", fields(
			field{"fork", mapKind, nil, "source of the chain of a fork", fields(
				field{"issue", textKind, nil, "issue of the source", nil},
				field{"checkpoint_id", textKind, nil, "checkpoint at which the fork begins", nil},
				field{"name", textKind, nil, "name of the fork", nil},
			)},
			field{"adopted", mapsKind, nil, "adopted forks whose tokens agent_turn.spent has", fields(
				field{"issue", textKind, nil, "issue of the fork", nil},
				field{"checkpoint_id", textKind, nil, "its adopted checkpoint", nil},
			)},
		)},
		field{"clock", intKind, nil, "hybrid logical clock in nanoseconds", nil},
		field{"repository", textKind, nil, "random id of the clone that began the chain", nil},
		field{"restored_from", textsKind, ruleID, "checkpoints of which this one has files without coming after them, such as the source of a fork", nil},
		field{"snapshot", mapKind, nil, "what the save captured of the files", snapshotSchema()},
		field{"submodules", mapsKind, nil, "submodules with changes of their own", fields(
			field{"path", textKind, rulePath, "path from the root, in the quotes of git if it is not plain", nil},
			field{"commit", textKind, ruleHash, "its HEAD, with the hash algorithm", nil},
			field{"issue", textKind, nil, "issue of its checkpoint", nil},
			field{"id", textKind, nil, "its checkpoint", nil},
		)},
		field{"workflow", mapKind, nil, "state of the whole workflow, with keys of other systems", nil},
		field{"progress", mapKind, nil, "phases of the workflow", fields(
			field{"current", textKind, nil, "current phase", nil},
			field{"completed", textsKind, nil, "completed phases", nil},
			field{"total", intKind, nil, "number of phases, if they have no names", nil},
			field{"names", textsKind, nil, "names of the phases in their order", nil},
			field{"remaining", textsKind, nil, "open phases", nil},
		)},
		field{"tasks", anyKind, nil, "tasks", nil},
		field{"stage", anyKind, nil, "stages of the pipeline system", nil},
		field{"pipeline", anyKind, nil, "settings of the pipeline system", nil},
		field{"layout", anyKind, nil, "name and version of the system of an imported document", nil},
	)
})

func fields(f ...field) *schema { return newSchema(f, field{}) }

// A field is a row of the table of a record's fields.
type field struct {
	name string
	kind kind
	rule rule   // checks a value, or each element of a list; may be nil
	doc  string // for the guide record
	of   *schema
}

// kind is the type of a field. Null is always permitted and means absent.
type kind int

// schema lists the fields of a mapping in output order. Other keys have the kind other.
type schema struct {
	fields []field
	other  field
	place  map[string]int // index in fields
}

func newSchema(f []field, other field) *schema {
	s := &schema{fields: f, other: other, place: make(map[string]int, len(f))}
	for k := range f {
		s.place[f[k].name] = k
	}
	return s
}

const (
	anyKind     kind = iota
	textKind         // text, or a number as written
	intKind          // integer, or text that is an integer
	boolKind         // true or false
	timeKind         // text or number; Validate checks the time
	textsKind        // list of textKind
	intsKind         // list of intKind
	listKind         // list of any values, or of mappings with schema of
	mapKind          // mapping with schema of
	mapsKind         // list of mappings with schema of
	versionKind      // textKind with a supported major version
)

// words names the kinds for people.
var words = [...]string{
	anyKind: "any value", textKind: "text", intKind: "integer", boolKind: "true or false",
	timeKind: "time", textsKind: "list of texts", intsKind: "list of integers", listKind: "list",
	mapKind: "mapping", mapsKind: "list of mappings", versionKind: "text",
}

// A Field documents a field of a record.
type Field struct {
	Path string // with [] after a list of mappings, and NAME for a key that is free
	Kind string // in words
	Text string // without a capital at the start and a full stop
}

// Fields returns the fields of a record in the order of the text.
func Fields() []Field { return recordSchema().describe("") }

func (s *schema) describe(at string) (out []Field) {
	for _, f := range s.fields {
		path := document.PathOf(at, f.name)
		out = append(out, Field{path, words[f.kind], f.doc})
		if f.kind == mapsKind {
			path += "[]"
		}
		for of := f.of; of != nil; of = of.other.of {
			out = append(out, of.describe(path)...)
			path += ".NAME"
		}
	}
	return out
}

// dict returns a schema with arbitrary keys.
func dict(k kind, of *schema) *schema { return newSchema(nil, field{kind: k, of: of}) }

// spentSchema returns the schema of an element of Spent.
func spentSchema() *schema {
	return fields(
		field{"agent", textKind, nil, "name of the agent", nil},
		field{"model", textKind, nil, "name of the model", nil},
		field{"phase", textKind, nil, "phase of the work", nil},
		field{"input", intKind, nil, "input tokens without the cached", nil},
		field{"output", intKind, nil, "output tokens", nil},
		field{"cache_read", intKind, nil, "tokens read from the cache", nil},
		field{"cache_write", intKind, nil, "tokens written to the cache", nil},
	)
}

func graphSchema() *schema {
	return fields(
		field{"graph_id", textKind, form(`^GRAPH-\S+$`, "does not begin with GRAPH-"), "id of the graph", nil},
		field{"completed_batches", intsKind, nil, "completed batches, ascending", nil},
		field{"current_batch", intKind, nil, "number of the current batch", nil},
		field{"node_states", mapKind, nil, "state of each task", dict(mapKind, fields(
			field{"status", textKind, word(nodeStatuses, true), "status of the task: pending, queued, running, complete, failed or skipped", nil},
			field{"result", anyKind, nil, "result of the task", nil},
			field{"started_at", timeKind, nil, "start", nil},
			field{"completed_at", timeKind, nil, "end", nil},
		))},
		field{"phases", anyKind, nil, "completed_batches and current_batch of former phases", nil},
	)
}

func snapshotSchema() *schema {
	return fields(
		field{"scope", textKind, word(scopes, true), "what the save captured: whole, staged (staged changes only) or cut (its time ended)", nil},
		field{"head", textKind, ruleHash, "HEAD at the save with the hash algorithm, null on an unborn branch; for display", nil},
		field{"detached", boolKind, nil, "whether HEAD was detached", nil},
		field{"merge_head", textsKind, ruleHash, "other parents of a merge in progress", nil},
		field{"deleted", textsKind, rulePath, "tracked files that the worktree lacked", nil},
		field{"intent_to_add", textsKind, rulePath, "paths of git add -N", nil},
		field{"skipped", mapsKind, nil, "paths that the save did not capture", fields(
			field{"path", textKind, rulePath, "path from the root, in the quotes of git if it is not plain", nil},
			field{"size", intKind, nil, "size in bytes", nil},
			field{"reason", textKind, nil, "why it was left out", nil},
			field{"carried_from", textKind, nil, "checkpoint whose version the state has", nil},
		)},
		field{"kept", textsKind, rulePath, "paths that are removed from the index and still lie in the worktree", nil},
		field{"ignores", textKind, nil, "digest of git's rules for ignored files that the snapshot does not have", nil},
		field{"modes", mapsKind, nil, "files whose permissions are tighter than the umask", fields(
			field{"path", textKind, rulePath, "path from the root, in the quotes of git if it is not plain", nil},
			field{"mode", textKind, nil, "permission bits in octal", nil},
		)},
		field{"flagged", mapsKind, nil, "files that were captured although a flag of the index tells git not to read them", fields(
			field{"path", textKind, rulePath, "path from the root, in the quotes of git if it is not plain", nil},
			field{"flag", textKind, nil, "skip-worktree or assume-unchanged", nil},
		)},
	)
}

// check checks the kinds of all values in m. The path is built only after an error, in
// reverse order.
func (s *schema) check(m *Map) *typeError {
	for key, v := range m.All() {
		if err := s.field(key).check(v); err != nil {
			err.path = append(err.path, document.Step{Key: key})
			return err
		}
	}
	return nil
}

// typeError reports a value of the wrong kind and its path.
type typeError struct {
	path []document.Step
	msg  string
}

// field returns the field of a key.
func (s *schema) field(key string) field {
	if k, ok := s.place[key]; ok {
		return s.fields[k]
	}
	return s.other
}

func (f field) check(v any) *typeError {
	if v == nil {
		return nil
	}
	switch f.kind {
	case anyKind:
		return nil
	case textKind, timeKind, versionKind:
		_, isText := v.(string)
		_, isNumber := v.(Number)
		return want(isText || isNumber, "text", v)
	case intKind:
		_, ok := Number(document.AsText(v)).Int() // real files also have integers as text
		return want(ok, "an integer", v)
	case boolKind:
		_, ok := v.(bool)
		return want(ok, "true or false", v)
	case mapKind:
		m, ok := v.(*Map)
		if !ok || f.of == nil {
			return want(ok, "a mapping", v)
		}
		return f.of.check(m)
	}
	return f.checkList(v)
}

func want(ok bool, what string, v any) *typeError {
	if ok {
		return nil
	}
	return &typeError{msg: fmt.Sprintf("want %s, got %s", what, document.KindOf(v))}
}

// element returns the field of the elements of a list.
func (f field) element() field {
	e := field{of: f.of, rule: f.rule}
	switch f.kind {
	case textsKind:
		e.kind = textKind
	case intsKind:
		e.kind = intKind
	case mapsKind:
		e.kind = mapKind
	}
	return e
}

// checkList checks every element of a list.
func (f field) checkList(v any) *typeError {
	l, ok := v.([]any)
	if !ok {
		return want(false, "a list", v)
	}
	element := f.element()
	for k := range l {
		err := element.check(l[k])
		if l[k] == nil && element.kind != anyKind {
			err = want(false, "no empty element", l[k])
		}
		if err != nil {
			err.path = append(err.path, document.Step{Key: strconv.Itoa(k), Index: true})
			return err
		}
	}
	return nil
}

func pathText(path []document.Step) string {
	s := ""
	for _, p := range path {
		if p.Index {
			s += "[" + p.Key + "]"
			continue
		}
		s = document.PathOf(s, p.Key)
	}
	return s
}

// ordered returns a copy of m with schema keys first, in schema order, at every level.
func (s *schema) ordered(m *Map) *Map {
	out := &Map{Entries: make([]document.Entry, 0, m.Len())}
	for _, f := range s.fields {
		if v, ok := m.Get(f.name); ok {
			out.Add(f.name, f.ordered(v))
		}
	}
	for key, v := range m.All() {
		if _, known := s.place[key]; !known {
			out.Add(key, s.other.ordered(v))
		}
	}
	return out
}

func (f field) ordered(v any) any {
	if f.of == nil {
		return v
	}
	switch v := v.(type) {
	case *Map:
		if v != nil {
			return f.of.ordered(v)
		}
	case []any:
		list := slices.Clone(v)
		for k := range list {
			if m, ok := list[k].(*Map); ok {
				list[k] = f.of.ordered(m)
			}
		}
		return list
	}
	return v
}
