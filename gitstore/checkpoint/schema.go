package checkpoint

import (
	"fmt"
	"slices"
	"strconv"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Check returns a *SyntaxError without a position if a schema field has a value of the
// wrong kind. Merges and assignments can cause such values.
func (r *Record) Check() error {
	if err := recordSchema.check(r.doc); err != nil {
		slices.Reverse(err.path)
		return &SyntaxError{Path: pathText(err.path), Msg: err.msg}
	}
	return nil
}

// recordSchema is the crunch schema with trigger, then git-checkpoint's own keys, then
// sections of other layouts. It defines the order of the text.
var recordSchema = fields(
	field{"checkpoint_id", textKind, nil},
	field{"version", versionKind, nil},
	field{"created_at", timeKind, nil},
	field{"trigger", textKind, nil},
	field{"issue_number", textKind, nil},
	field{"session_id", textKind, nil},
	field{"workflow_state", mapKind, fields(
		field{"current_phase", textKind, nil},
		field{"current_state_label", textKind, nil},
		field{"phase_started_at", timeKind, nil},
		field{"phase_attempt", intKind, nil},
		field{"phase_attempts", mapKind, dict(intKind, nil)},
	)},
	field{"issue_snapshot", mapKind, fields(
		field{"title", textKind, nil},
		field{"body", textKind, nil},
		field{"body_digest", textKind, nil},
		field{"labels", textsKind, nil},
		field{"assignees", textsKind, nil},
		field{"branch", textKind, nil},
		field{"labels_order", textsKind, nil},
		field{"state", textKind, nil},
		field{"source", textKind, nil},
	)},
	field{"team_state", mapKind, fields(
		field{"team_id", textKind, nil},
		field{"members", mapsKind, fields(
			field{"agent", textKind, nil},
			field{"role", textKind, nil},
			field{"status", textKind, nil},
			field{"tasks_completed", intKind, nil},
			field{"tasks_pending", intKind, nil},
		)},
	)},
	field{"execution_graph", mapKind, graphSchema},
	field{"agent_outputs", mapKind, dict(mapKind, dict(mapKind, fields(
		field{"completed_at", timeKind, nil},
		field{"output_summary", textKind, nil},
		field{"output_location", textKind, nil},
		field{"output_digest", textKind, nil},
	)))},
	field{"acp_state", mapKind, fields(
		field{"pending_messages", textsKind, nil},
		field{"awaiting_response", textsKind, nil},
		field{"conflicts_in_progress", textsKind, nil},
	)},
	field{"knowledge_context", mapKind, fields(
		field{"injected_entries", textsKind, nil},
		field{"captured_entries", textsKind, nil},
		field{"pending_captures", listKind, nil},
	)},
	field{"files_modified", mapsKind, fields(
		field{"path", textKind, nil},
		field{"status", textKind, nil},
		field{"staged", boolKind, nil},
	)},
	field{"recovery_info", mapKind, fields(
		field{"can_resume", boolKind, nil},
		field{"resume_from", textKind, nil},
		field{"prerequisites_met", boolKind, nil},
		field{"warnings", textsKind, nil},
	)},
	field{"note", textKind, nil},
	field{"agent_turn", mapKind, fields(
		field{"number", intKind, nil},
		field{"agent", textKind, nil},
		field{"request", textKind, nil},
		field{"asked", intKind, nil},
		field{"answer", textKind, nil},
		field{"hand", boolKind, nil},
		field{"usage", mapsKind, spentSchema},
		field{"usage_of", textKind, nil},
		field{"written", mapKind, dict(intKind, nil)},
		field{"started", mapKind, dict(intKind, nil)},
		field{"spent", mapsKind, spentSchema},
	)},
	field{"lineage", mapKind, fields(
		field{"fork", mapKind, fields(
			field{"issue", textKind, nil},
			field{"checkpoint_id", textKind, nil},
			field{"name", textKind, nil},
		)},
	)},
	field{"clock", intKind, nil},
	field{"snapshot", mapKind, snapshotSchema},
	field{"workflow", mapKind, nil},
	field{"progress", mapKind, fields(
		field{"current", textKind, nil},
		field{"completed", textsKind, nil},
		field{"total", intKind, nil},
		field{"names", textsKind, nil},
		field{"remaining", textsKind, nil},
	)},
	field{"tasks", anyKind, nil},
	field{"stage", anyKind, nil},
	field{"pipeline", anyKind, nil},
	field{"layout", anyKind, nil},
)

func fields(f ...field) *schema { return newSchema(f, field{}) }

type field struct {
	name string
	kind kind
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

// dict returns a schema with arbitrary keys.
func dict(k kind, of *schema) *schema { return newSchema(nil, field{kind: k, of: of}) }

// spentSchema is the schema of an element of Spent.
var spentSchema = fields(
	field{"agent", textKind, nil},
	field{"model", textKind, nil},
	field{"phase", textKind, nil},
	field{"input", intKind, nil},
	field{"output", intKind, nil},
	field{"cache_read", intKind, nil},
	field{"cache_write", intKind, nil},
)

var graphSchema = fields(
	field{"graph_id", textKind, nil},
	field{"completed_batches", intsKind, nil},
	field{"current_batch", intKind, nil},
	field{"node_states", mapKind, dict(mapKind, fields(
		field{"status", textKind, nil},
		field{"result", anyKind, nil},
		field{"started_at", timeKind, nil},
		field{"completed_at", timeKind, nil},
	))},
	field{"phases", anyKind, nil},
)

var snapshotSchema = fields(
	field{"head", textKind, nil},
	field{"detached", boolKind, nil},
	field{"merge_head", textsKind, nil},
	field{"deleted", textsKind, nil},
	field{"intent_to_add", textsKind, nil},
	field{"skipped", mapsKind, fields(
		field{"path", textKind, nil},
		field{"size", intKind, nil},
		field{"reason", textKind, nil},
		field{"class", textKind, nil},
	)},
	field{"kept", textsKind, nil},
	field{"ignores", textKind, nil},
	field{"worktree", boolKind, nil},
	field{"untracked", boolKind, nil},
	field{"extent", mapKind, fields(
		field{InIndex, textKind, nil},
		field{InWorktree, textKind, nil},
		field{InUntracked, textKind, nil},
	)},
)

// check checks the kinds of all values in m. The path is built only after an error, in
// reverse order.
func (s *schema) check(m *Map) *typeError {
	for k := range m.Len() {
		key, v := m.Entry(k)
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
		return want(isText(v), "text", v)
	case intKind:
		return want(isInteger(v), "an integer", v)
	case boolKind:
		_, ok := v.(bool)
		return want(ok, "true or false", v)
	case mapKind:
		return f.checkMap(v)
	}
	return f.checkList(v)
}

func want(ok bool, what string, v any) *typeError {
	if ok {
		return nil
	}
	return &typeError{msg: fmt.Sprintf("want %s, got %s", what, document.KindOf(v))}
}

func isText(v any) bool {
	switch v.(type) {
	case string, Number:
		return true
	}
	return false
}

// isInteger also accepts an integer written as text, which occurs in real files.
func isInteger(v any) bool {
	_, ok := Number(document.AsText(v)).Int()
	return ok
}

func (f field) checkMap(v any) *typeError {
	m, ok := v.(*Map)
	if !ok || f.of == nil {
		return want(ok, "a mapping", v)
	}
	return f.of.check(m)
}

// checkList checks every element of a list.
func (f field) checkList(v any) *typeError {
	l, ok := v.([]any)
	if !ok {
		return want(false, "a list", v)
	}
	element := field{of: f.of}
	switch f.kind {
	case textsKind:
		element.kind = textKind
	case intsKind:
		element.kind = intKind
	case mapsKind:
		element.kind = mapKind
	}
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
		s = document.JoinPath(s, p.Key)
	}
	return s
}

// at returns the error with its position in the text.
func (e *typeError) at(d document.Parsed) error {
	slices.Reverse(e.path)
	line, column := d.Where(e.path)
	return &SyntaxError{Line: line, Column: column, Path: pathText(e.path), Msg: e.msg}
}

// ordered returns m with schema keys first, in schema order, at every level. Parts in
// order are not copied.
func (s *schema) ordered(m *Map) *Map {
	out := m
	if !s.inOrder(m) {
		out = document.NewMapSize(m.Len())
		for _, f := range s.fields {
			if k := m.Find(f.name); k >= 0 {
				_, v := m.Entry(k)
				out.Add(f.name, v)
			}
		}
		for k := range m.Len() {
			key, v := m.Entry(k)
			if _, known := s.place[key]; !known {
				out.Add(key, v)
			}
		}
	}
	for k := range out.Len() {
		key, v := out.Entry(k)
		if v := s.field(key).ordered(v); v != nil {
			if out == m {
				out = m.Shallow()
			}
			out.SetEntry(k, v)
		}
	}
	return out
}

// inOrder reports whether the keys of m have schema order.
func (s *schema) inOrder(m *Map) bool {
	last := -1
	for k := range m.Len() {
		key, _ := m.Entry(k)
		at, ok := s.place[key]
		if !ok {
			at = len(s.fields)
		}
		if at < last {
			return false
		}
		last = at
	}
	return true
}

// ordered returns the sorted value, or nil if the value is already in order.
func (f field) ordered(v any) any {
	if f.of == nil {
		return nil
	}
	switch v := v.(type) {
	case *Map:
		if m := f.of.ordered(v); m != v {
			return m
		}
	case []any:
		return f.orderedList(v)
	}
	return nil
}

func (f field) orderedList(l []any) any {
	var out []any
	for k := range l {
		m, ok := l[k].(*Map)
		if !ok {
			continue
		}
		if in := f.of.ordered(m); in != m {
			if out == nil {
				out = append([]any(nil), l...)
			}
			out[k] = in
		}
	}
	if out == nil {
		return nil
	}
	return out
}
