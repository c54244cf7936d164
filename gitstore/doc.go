// Package gitstore stores checkpoints as commits in a git repository. A checkpoint is a
// saved state of the work on an issue: a record of the task, the index, and optionally
// files of the worktree. All checkpoints of an issue form a chain of commits below one
// ref. This comment describes the stored form and its guarantees.
//
// # Refs
//
//	refs/checkpoints/<issue>                     the chain of live checkpoints
//	refs/checkpoints-archive/<issue>             the archive, a separate chain
//	refs/git-checkpoint/own/<issue>              last value that this clone gave the chain
//	refs/git-checkpoint/fetched/<issue>          a chain that plain git fetched
//	refs/git-checkpoint/remote/<remote>/<issue>  remote-tracking ref of a chain
//	refs/git-checkpoint/incoming/...             temporary ref of a fetch
//	refs/git-checkpoint/undo/<issue>/<time>      safety snapshot of a restore (safety), with
//	                                             the suffix -redo of an undo
//
// <issue> is the key of the issue, percent-encoded if git forbids a character in refs
// (checkpoint.Issue). This program pushes only refs of the first two namespaces. The
// others are bookkeeping of one clone.
//
// # Stored form, version 1
//
// A chain starts with the genesis commit of its issue. This commit has an empty tree, no
// parent, a fixed author and date, and the message "checkpoints of issue <issue>". Every
// clone creates the same genesis commit, so all chains of an issue share an ancestor.
// Each checkpoint is one commit above it:
//
//	tree
//	  checkpoint.yaml   the record (package checkpoint)
//	  staged/           the index as a tree, as in git write-tree; a file above
//	                    the size limit has its content in HEAD
//	  conflicts/1,2,3/  the stages of unmerged paths, if any
//	  worktree/         tracked files that differ from the index, unless the save is
//	                    limited to the index
//	  untracked/        untracked files that git does not ignore, likewise
//	  artifacts/        named files, and artifacts of the previous checkpoint
//	                    that the record refers to, with their current content
//	  ledger            deletions, archivals and pins (package ledger), if any
//	parent 1            the previous checkpoint, a ledger commit, or genesis
//	parent 2            the index commit: its tree is staged/, its parent is HEAD
//	                    (no parent if the branch is unborn), its message is
//	                    "index of <id>"; the first checkpoint of a fork has the
//	                    index commit and the trees of its source
//	author              git's identity, or a fallback; created_at of the record, the
//	                    time of the save unless the record was imported
//	committer           git's identity, or a fallback; the time of the save or import
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
//	                    Checkpoint-After: CP-none-20260214T142000Z-0b1c2d3e
//	                    Checkpoint-Version: 1.0
//
// The record's snapshot.extent states for index, worktree and untracked files whether the
// snapshot is complete, partial or none. snapshot.skipped names what was left out, with class
// and reason; a directory ends with a slash and stands for all below it, and "." for unnamed
// files. snapshot.kept names paths that are removed from the index and still lie in the
// worktree. snapshot.ignores is a digest of git's rules for ignored files that the snapshot
// does not have: those outside of the worktree, and .gitignore files that git ignores. Without
// snapshot.extent, the absence of a path proves nothing.
//
// The record is authoritative. Trailers repeat some record fields, so that listing and
// retention read only commits. An empty trailer is omitted. Checkpoint-Left-Out is the
// number of entries in snapshot.skipped whose reason is a limit of time or size. The record does
// not have Checkpoint-After. If a
// line of the note looks like a trailer, the note is indented by four spaces.
//
// Checkpoint-After names up to 8 checkpoints that the worktree came after at the save, or
// "none": first those that were saved or restored in this worktree since its last save and that
// do not contain each other, then those that the first of them names. It tells which checkpoints
// were saved in parallel, after a join too. A checkpoint of a chain is unrelated to another one
// only if each id on the way is in the chain, or is named with its successors by another
// checkpoint. Earlier versions write no such trailer: the order is then unknown. Each worktree
// keeps its own ids in $GIT_DIR/git-checkpoint/here/<issue>, one a line.
//
// Checkpoint-Clock orders checkpoints. Its value is the time of the save in nanoseconds.
// If the checkpoint below has the same or a later clock, the value is that clock plus
// one. The clock of a checkpoint never changes. A merge of chains sorts by clock, then by
// id, so a checkpoint stays above its ancestors even if a system clock was wrong. Ages
// derive from committer dates, never from Checkpoint-Clock; lists show author dates. Earlier versions of this program
// did not follow a clock more than a day ahead; their chains are read unchanged.
//
// A ledger commit changes the ledger without a new checkpoint. Its tree contains only the
// ledger, or is empty if the ledger has no entries. Its only parent is the chain below.
// Its message is "ledger of issue <issue>" with the trailers Checkpoint-Issue and
// Checkpoint-Version. The ledger in the tip's tree is the current one; older ledgers are
// history.
//
// The trailer Checkpoint-Restored of a ledger commit is a restoration: a person went back to
// an older checkpoint by a restore of all of its files.
//
//	Checkpoint-Restored: <id> <clock> <name of the person>
//
// The work goes on from this checkpoint until the next save: a checkpoint above the ledger
// commit, or with a later clock, ends the restoration. The latest clock wins. A restoration of
// the newest checkpoint ends an earlier one. Earlier versions of this program ignore the
// trailer, and lose it if they rewrite the ledger commit.
//
// A clone whose chain is shallow archives and drops checkpoints with a ledger commit alone.
// Their commits stay in the chain and are hidden. The trailer Checkpoint-Below of this
// commit concerns the checkpoints below the boundary, which the clone cannot name (chain.Below).
// A complete clone that fetches or synchronizes the chain removes the commits, and moves
// the archived checkpoints to the archive.
//
// A checkpoint is identified by its id, not by its commit. If a checkpoint is dropped,
// the commits above it are rewritten with new parents, but with the same trees, messages,
// authors and dates.
//
// # Moving refs
//
// Every move of a chain names the expected old value (compare-and-swap) and adds a reflog
// entry. Package refs moves existing refs of the files backend itself, as git does. It
// creates the lock file <ref>.lock, compares the old value, appends to the reflog, and
// renames the lock file to the ref. Everything else is left to git update-ref: created
// and deleted refs, refs without a reflog, refs that another process has locked,
// reftables, and repositories with a reference-transaction hook.
//
// The processes of this program also lock the issue. The lock file contains a note of the
// current transaction. If a process is killed between two refs of a transaction, the next
// process with the lock completes the transaction or rolls it back.
//
// # Sharing
//
// Package remote fetches and pushes refs; it does not know about checkpoints. A sync
// merges three chains of an issue: the local chain, the chain at own/, and the remote
// chain (package join). If one chain contains the merged state, it is the result.
// Otherwise the commits above the common part are rewritten. If both sides have work that
// the other lacks, a new checkpoint on top contains both (join.MergeRecords).
//
// A sync moves the remote refs first, the archive and the chain of an issue together, with
// a lease on the values that were fetched. If there are many refs, those that extend the remote
// refs move in one push: git refuses each that does not extend the current value. Then the
// sync moves the local refs in one transaction.
//
// A missing ref never means that checkpoints were dropped. If other tools deleted or rewrote a
// chain, its checkpoints are restored from own/ before the next change. That is why own/ is a
// chain of its own. If it was deleted too, its last value is read from
// $GIT_COMMON_DIR/git-checkpoint/own/<issue>.
//
// # Network
//
// This package uses the network in Fetch, Push, Sync, OpenRemote and RemoteHasBranch, and where a
// partial clone lacks an object, which git then fetches. Package freshness/issue/forge asks
// forges. Commands call these from sync, push, fetch, resume, list --remote, from hooks and with
// --push. The settings issue_command and scan_command run programs of the user.
//
// # Guarantees
//
//   - If a save returns without an error, its checkpoint is never lost.
//   - If a save returns an error, nothing visible has changed. As an exception, a
//     DoneError names a checkpoint that was saved.
//   - Only restores, Worktrees.FindOrAdd and Worktrees.Switch write outside of these refs
//     with their reflogs, the object database and $GIT_DIR/git-checkpoint.
//   - After a power loss, no ref points to a lost object: objects become durable before
//     the refs do. This includes objects that git wrote without a sync.
//
// Package internal/storetest contains the full contract as tests.
package gitstore
