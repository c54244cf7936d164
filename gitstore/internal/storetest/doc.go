// Package storetest tells whether a store of checkpoints keeps its promises.
//
// A test writes one function that makes an empty place to keep checkpoints in,
// and gives it to Run:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB, now func() time.Time) storetest.World {
//			place := mystore.New(now)
//			return storetest.World{Open: func() storetest.Subject { return place.Open() }}
//		})
//	}
//
// Run tries every promise in a place of its own, as a subtest of its name. What
// a store cannot do, such as to archive, is named in the log, and the promises
// about it are skipped with that as the reason.
//
// # The contract
//
// A store keeps checkpoints by issue. An issue's checkpoints are a chain: they
// stand in the order in which they were saved, whatever the clocks said, and
// the last one is the tip.
//
// Names. Every checkpoint has an id that no other checkpoint of the issue has,
// had or will have, also when it was dropped. A checkpoint goes by its id, a
// prefix of it that reaches into its time, at least four of its final hex digits,
// "latest" and "latest~2", by its phase and by its note. A name that fits
// several is refused with all of them. An issue is any line of text of up to
// 200 bytes; two keys that differ never share a chain, and two that differ in
// case alone cannot both be used.
//
// Records. What was saved is read back the same: every key, known or not, in
// its order, every text to the byte. A record starts from the one before. Ids,
// clocks and times are the store's to say. A record of a later major version is
// listed, and refused where its content is asked for.
//
// Saves. One that returned is in the chain, once, whoever else saves at the
// same time: it was made from the record right before it. One that failed
// changed nothing. A reader beside a writer sees the chain from before or from
// after.
//
// Retention keeps what its policy says, and in any case the tip, the newest that
// can be resumed, and what is pinned. It tells of every checkpoint what becomes
// of it and why, does what it told and nothing else, and drops nothing more
// when it is asked again.
//
// Removing. A dropped checkpoint is gone from the chain and the archive; the
// records above and below it stay as they were, to the byte. Several are dropped
// together or not at all. An archived one leaves the chain, and can still be
// found, read, pinned and dropped. Undo gives back exactly what the last prune,
// drop or archive took, pins included, and leaves what was saved since. After a
// purge there is nothing to undo.
//
// Files, where a store holds them, are those that were staged at the save.
// Sharing, where a store does that, brings what either place saved to both,
// without what either dropped or archived.
//
// Errors are those of package gitstore, as errors.Is and errors.As see them:
// NoneError, NotFoundError, AmbiguousError, TakenError, RefusedError,
// CorruptError, ErrUnchanged, ErrNothingToUndo; and checkpoint.VersionError.
package storetest
