// Package checkpoint implements the record of a checkpoint: ids and issue keys, the
// document, its canonical text, and its rules.
//
// # Record
//
// A record is a YAML mapping. Its base is the crunch schema with an additional key,
// trigger. Then come git-checkpoint's own keys note, clock and snapshot, sections of
// other layouts, and unknown keys in their original order. The table in schema.go lists
// all fields with their kinds, in the order of the text. Null is permitted everywhere and
// means absent.
//
//	checkpoint_id   CP-<phase>-<YYYYMMDDTHHMMSSZ>-<8 hex>, or an imported id
//	version         "1.0"; another major version is a *VersionError
//	created_at      2006-01-02T15:04:05.000000Z
//	issue_number    an integer if possible, else text
//	phase_attempts  number of attempts of each former phase; phase_attempt is the
//	                number for the current phase
//	output_digest,  content of a referenced file at the save: "blob:" and the
//	plan_digest     object id of its git blob
//	progress        awaiting_approval: phases, a text or a list;
//	                approval_required: phases that always need approval;
//	                approved: a list of {phase, approved_at}
//	clock           nanoseconds, a hybrid logical clock: see Clock
//	paths           plain; in git's C quotes if a path is not UTF-8, contains a
//	                NUL or starts with a quote: see QuotePath
//
// # Canonical text
//
//	document = "{}" NL | mapping
//	mapping  = { indent key ":" ( " " scalar | NL mapping | NL list ) }
//	list     = { indent "- " ( scalar | list | mapping ) }
//	scalar   = "null" | "true" | "false" | number | plain | quoted | block NL
//	         | "{}" | "[]"
//	block    = "|" [ "2" ] [ "-" | "+" ] NL { indent line NL }
//
// Each level, including lists, is indented by two columns. A list or mapping inside a
// list starts on the line of its dash. Numbers have JSON syntax. Text is plain if no YAML
// parser can read it as another type. Text with several lines of printable characters is
// a literal block. All other text is double-quoted with the escapes of JSON and \U. A key
// of more than a thousand bytes follows "? " on its own line.
//
// Encode writes only this form. Decode also parses other YAML with yaml.v3, and JSON with
// its own parser. Every rejection includes line and column.
package checkpoint
