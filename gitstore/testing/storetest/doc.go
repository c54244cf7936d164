// Package storetest tests whether a store of checkpoints keeps its promises.
//
// A test passes Run a function that creates an empty store:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB, now func() time.Time) storetest.World {
//			place := mystore.New(now)
//			return storetest.World{Open: func() storetest.Subject { return place.Open() }}
//		})
//	}
//
// Run tests each promise in a new store, as a subtest with the promise's name. If a store
// lacks an optional ability, such as an undo, Run logs it and skips the promises about
// that ability.
//
// # The contract
//
// A store contains checkpoints by issue. The checkpoints of an issue form a chain in the
// order of their saves, regardless of clocks. The newest save is the tip.
//
// Names. Each checkpoint has an id that is unique within its issue. Ids of dropped
// checkpoints are never reused. Find accepts an id, an id prefix that reaches into the
// time, and at least four of the final hex digits. It also accepts "latest", "latest~2",
// a phase, and a note. An ambiguous name is an error that lists all candidates. Issue
// keys are single-line texts, at most 200 bytes long. Two different keys never share a
// chain. Two keys that differ only in case cannot both exist.
//
// Records. A saved record is read back unchanged: all keys, known or unknown, in order,
// and all texts byte for byte. A new record starts from the previous record. The store
// sets ids, clocks and times. Lists include records of a later major version, but reading
// such records fails.
//
// Saves. A successful save occurs in the chain exactly once. Even with concurrent saves,
// each record is based on the record directly before. A failed save changes nothing.
// Concurrent readers see the chain before or after a save.
//
// Retention keeps the checkpoints that the policy selects, and always the tip, the newest
// resumable checkpoint, and pinned checkpoints. Prune returns a decision and a reason for
// each checkpoint and applies exactly these decisions. A repeated prune drops nothing
// more.
//
// Removal. A dropped checkpoint is in neither chain nor archive, and other records remain
// unchanged, byte for byte. Several checkpoints are dropped together or not at all.
// Archived checkpoints leave the chain; Find, reads, pins and drops still work. Undo
// restores exactly the checkpoints that the last prune, drop or archive removed,
// including pins, and keeps later saves. Checkpoints that a save pruned stay pruned. Undo
// after a purge fails with ErrNothingToUndo.
//
// Files. A checkpoint contains the files that were staged at the save, if the store
// supports files. Sharing. After a sync, both clones contain all saves, without
// checkpoints that either clone has dropped or archived.
//
// Errors match types and values of package gitstore with errors.Is and errors.As:
// NoneError, NotFoundError, AmbiguousError, TakenError, RefusedError, CorruptError,
// ErrUnchanged, ErrNothingToUndo; and checkpoint.VersionError.
package storetest
