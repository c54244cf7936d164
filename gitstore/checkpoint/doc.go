// Package checkpoint is the record of a checkpoint: the names it goes by, the
// document itself, the text it is stored as, and the rules it must keep.
//
// # The record
//
// A record is a mapping in YAML. Its trunk is the crunch schema, to which
// trigger was added; note, clock and snapshot are ours; then come sections of
// other layouts, then keys that nobody knows, in the order they came. The
// table in schema.go holds every field with its kind, and its order is the
// order of the text. Null is allowed everywhere and means absent.
//
//	checkpoint_id   CP-<phase>-<YYYYMMDDTHHMMSSZ>-<8 hex>, or an imported id
//	version         "1.0"; another major version is a *VersionError
//	created_at      2006-01-02T15:04:05.000000Z
//	issue_number    an integer where the key is one, else text
//	phase_attempts  how often each phase that was left was begun; phase_attempt
//	                counts for the current one
//	output_digest,  what a file was that the record refers to: "blob:" and the
//	plan_digest     name of the blob that git makes of it
//	progress        awaiting_approval: phases, a text or a list;
//	                approval_required: those that always need one; approved: a
//	                list of {phase, approved_at}
//	clock           nanoseconds, a hybrid logical clock: see Clock
//	paths           as they are; in git's C quotes where they are not UTF-8,
//	                hold a NUL or begin with a quote: see QuotePath
//
// # The canonical text
//
//	document = "{}" NL | mapping
//	mapping  = { indent key ":" ( " " scalar | NL mapping | NL list ) }
//	list     = { indent "- " ( scalar | list | mapping ) }
//	scalar   = "null" | "true" | "false" | number | plain | quoted | block NL
//	         | "{}" | "[]"
//	block    = "|" [ "2" ] [ "-" | "+" ] NL { indent line NL }
//
// Every level is two columns deeper, lists included; a list or a mapping that
// is an element begins on the line of its dash. Numbers are those of JSON.
// Text is plain where no reader of YAML can take it for something else, a
// literal block where it has several lines of printable characters, and in
// double quotes otherwise, with the escapes of JSON and \U. A key of more
// than a thousand bytes stands behind "? " on a line of its own.
//
// Encode writes nothing else. Decode also reads any other YAML, through
// yaml.v3, and JSON, through a reader of its own; what it refuses, it refuses
// with line and column.
package checkpoint
