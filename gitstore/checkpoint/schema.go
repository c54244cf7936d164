package checkpoint

// kind is the type of a field. Null is always permitted and means absent.
type kind int

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

// schema lists the fields of a mapping in output order. Other keys have the kind other.
type schema struct {
	fields []field
	other  field
	place  map[string]int // index in fields
}

type field struct {
	name string
	kind kind
	of   *schema
}

func fields(f ...field) *schema { return newSchema(f, field{}) }

// dict returns a schema with arbitrary keys.
func dict(k kind, of *schema) *schema { return newSchema(nil, field{kind: k, of: of}) }

func newSchema(f []field, other field) *schema {
	s := &schema{fields: f, other: other, place: make(map[string]int, len(f))}
	for k := range f {
		s.place[f[k].name] = k
	}
	return s
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
	)},
	field{"worktree", boolKind, nil},
	field{"untracked", boolKind, nil},
)
