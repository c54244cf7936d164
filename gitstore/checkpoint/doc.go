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
// The canonical text of a record is that of package document.
package checkpoint
