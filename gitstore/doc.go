// Package gitstore keeps checkpoints in a git repository.
//
// # The stored form, version 1
//
//	refs/checkpoints/<issue>             the chain of live checkpoints
//	refs/checkpoints-archive/<issue>     archived ones, a chain of their own
//	refs/git-checkpoint/own/<issue>      what this clone wrote last
//	refs/git-checkpoint/fetched/<issue>  a chain that plain git brought here
//	refs/git-checkpoint/remote/<remote>/<issue>  what a remote had
//	refs/git-checkpoint/incoming/...     what a fetch brings, until it has its place
//	refs/git-checkpoint/undo/<name>      safety snapshots of restores
//
// <issue> is the key, percent-encoded where git forbids a character in
// a ref (checkpoint.Issue). Only the first two are ever pushed.
//
// A chain ends in the genesis commit of its issue: an empty tree, no parent,
// fixed author and date, the message "checkpoints of issue <issue>". It is the
// same object in every clone, so any two chains of an issue share an ancestor.
// Above it stands one commit for each checkpoint:
//
//	tree
//	  checkpoint.yaml   the record (package checkpoint)
//	  staged/           the staging area, as git write-tree gives it; a file above
//	                    the size limit is as HEAD has it
//	  conflicts/1,2,3/  the stages of unmerged paths, if there are any
//	  worktree/         tracked files that differ from the staging area, when asked for
//	  untracked/        untracked files, when asked for
//	  artifacts/        files that were named, and those of the one before that
//	                    the record refers to, as they are now
//	  ledger            what is gone for good, and pins (package ledger), once there are any
//	parent 1            the checkpoint before, or genesis
//	parent 2            the index commit: tree = staged/, parent = HEAD, none when unborn
//	author, committer   git's ident, or a fallback; the record's created_at
//	message             checkpoint <issue>: <trigger> in <phase>
//
//	                    <note>
//
//	                    Checkpoint-Id: CP-implementing-20260214T143000Z-1f0c9a2b
//	                    Checkpoint-Issue: 42
//	                    Checkpoint-Trigger: batch_complete
//	                    Checkpoint-Phase: implementing
//	                    Checkpoint-Branch: feature/issue-42
//	                    Checkpoint-Resumable: true
//	                    Checkpoint-Clock: 1771079400000000000
//	                    Checkpoint-Left-Out: 2
//	                    Checkpoint-Version: 1.0
//
// Checkpoint-Left-Out counts the entries of snapshot.skipped that a limit of time
// or size is the reason for; it is there only if there are any.
//
// The record is the truth; the trailers are an index of it, so that listing
// and retention read commits only. A note that could be taken for a trailer
// is indented by four spaces.
//
// The clock of a checkpoint is created_at in nanoseconds, or one more than the
// clock of the checkpoint below it if that is larger. It is never changed later. A join
// sorts by clock, then by id, so a checkpoint stays above every checkpoint that it was
// saved on top of, even if the date of one of them was wrong. An age is told from
// created_at, never from the clock. Chains of earlier versions are read as they are:
// those versions did not follow a clock more than a day ahead.
//
// A ledger commit has no checkpoint.yaml: its tree is {ledger}, its only
// parent the chain below, its message "ledger of issue <issue>" with the
// trailers Checkpoint-Issue and Checkpoint-Version. It carries the ledger of a
// chain whose newest checkpoint was written before the ledger changed. The
// ledger in the tip's tree is the state; older ones are history.
//
// Identity is the checkpoint id. Dropping a checkpoint rewrites the commits
// above it, with their trees, messages, authors and dates as they were.
//
// # Sharing
//
// Package remote talks to other repositories: it fetches and pushes refs, and
// knows nothing of checkpoints. A sync brings the chain here, what this clone
// wrote last and a remote's chain to one (package join). One of them that says all there is to say is taken as
// it is; else the part above what a chain and the result have in common is
// made anew. Where that puts checkpoints behind one another that were made apart,
// and each has work that the other does not know of, a checkpoint follows with
// both (package unite). The remote's ref moves first, from the value that was seen there;
// then the refs here, in one transaction. That a ref is gone never means that
// something was dropped: it is brought back from own/, and so is what other
// means took from it, before anything else changes a chain.
//
// # Promises
//
// A save that returned is never lost. A save that failed changed nothing a
// user can see, or its error is a DoneError and names the checkpoint. Nothing
// but the refs above, the object store and $GIT_DIR/git-checkpoint is written by
// anything but a restore. Objects are durable before the ref moves, with all that
// git wrote before and did not sync. Refs move as git moves them, by
// compare-and-swap. Package internal/storetest has the rest, as tests.
package gitstore
