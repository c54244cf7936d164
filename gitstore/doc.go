// Package gitstore stores checkpoints as commits in a git repository. A checkpoint is a
// saved state of the work on an issue: a record of the task, the index, and the files of
// the worktree. All checkpoints of an issue form a chain of commits below one
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
//	refs/git-checkpoint/line/<issue>             the states as commits, for blame (Line)
//	refs/git-checkpoint/here/<worktree>/<issue>  the files that a worktree last agreed on with a
//	                                             checkpoint (chain.Here)
//	refs/git-checkpoint/operations/<worktree>/<number>
//	                                             what undo reverts (package operation)
//
// <issue> is the key of the issue, percent-encoded if git forbids a character in refs
// (checkpoint.Issue). This program pushes only refs of the first two namespaces. The
// others are bookkeeping of one clone. <worktree> is _main, or w- and the encoded name of a linked
// worktree.
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
//	  state/            the files of the work as one tree: tracked files as they lie in
//	                    the worktree, untracked files that git does not ignore, named
//	                    files, and untracked files that the record refers to
//	  staged/           the index as a tree, as in git write-tree; an unmerged path, and
//	                    a file above the size limit, has its version in HEAD
//	  conflicts/1,2,3/  the stages of unmerged paths, if any
//	  ledger            facts about the checkpoints (package ledger), if any
//	  signature/, x-*   signatures, and entries of extensions, kept by every rewrite
//	parent 1            the previous checkpoint, a ledger commit, or genesis
//	parent 2            the state commit, in the form of a stash: its tree is state/, its
//	                    parents are HEAD (genesis if the branch is unborn) and the index
//	                    commit, its message is "state of <id>"
//	                    the index commit: its tree is staged/, its parent is HEAD or
//	                    genesis, its message is "index of <id>"
//	                    author, committer and dates of both are those of the author below;
//	                    the first checkpoint of a fork has the state commit and the trees
//	                    of its source
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
//	                    Checkpoint-After: CP-none-20260214T142000Z-0b1c2d3e
//	                    Checkpoint-Scope: whole
//	                    Checkpoint-Left-Out: 2
//	                    Checkpoint-Turn: 16
//	                    Checkpoint-Agent: claude
//	                    Checkpoint-Restored-From: CP-none-20260214T141000Z-4f5a6b7c
//	                    Checkpoint-Content: <64 hex digits>
//	                    Checkpoint-Version: 1.0
//
// So "git stash apply --index refs/checkpoints/42^2" gives the work back in a clean worktree, and
// HEAD at the save is refs/checkpoints/42^2^.
//
// A path without a capture is carried: state/ has the version of the checkpoint that the worktree
// agreed on, merged over later commits (package snapshot, carry). Values of snapshot.scope are whole,
// staged (only staged changes, other files are carried) and cut (the time limit passed before all
// files were listed). snapshot.skipped names each path that was left out, with the reason, and with
// the checkpoint of the carried version (carried_from). A directory ends with a slash and stands for
// all below it, "." for unnamed files. snapshot.kept names paths that
// are removed from the index and still lie in the worktree. snapshot.ignores is a digest of git's
// rules for ignored files that the snapshot does not have: those outside of the worktree, and
// .gitignore files that git ignores. Object names in the record have their algorithm ("sha1:") and
// are for display only. repository is a random id of the clone that began the chain.
//
// The record is authoritative. Trailers repeat some record fields, so that listing and
// retention read only commits. They stand in this order, and an empty trailer is omitted.
// Checkpoint-Scope is snapshot.scope of the record: whole, staged or cut. Checkpoint-Left-Out is the
// number of entries in snapshot.skipped whose reason is a limit of time or size. The record does
// not have Checkpoint-After and Checkpoint-Content. Other trailers that begin with Checkpoint- are
// kept. If a line of the note looks like a trailer, the note is indented by four spaces.
//
// A checkpoint is identified by its id and its content (chain.ContentOf), not by its commit. The
// content covers the tree without ledger and signature, the second parent, the author and the
// message, but not the first parent and the committer. So it stays if a checkpoint below is dropped:
// the commits above it are rewritten with new parents, but with the same trees, messages, authors
// and dates. Two contents under one id are two checkpoints, and a merge of chains keeps both. In a
// clone the id means the content that was there first (package chain, doubles.go).
//
// Checkpoint-After names up to 8 checkpoints that the worktree came after at the save, or
// "none": first those that were saved or restored in this worktree since its last save and that
// do not contain each other, then those that the first of them names. Checkpoint-Restored-From names up
// to 8 others from which files came: the sources of restores of some files, of an adoption, and of a
// fork. It orders the checkpoints of
// a merge (join.State.Order), and tells which checkpoints were saved in parallel. A checkpoint of a
// chain is unrelated to another one only if each id on the way is in the chain, or a fact of the
// ledger or another checkpoint names it with what it came after. The ref here/ of a worktree has the
// ids of both trailers for its next save.
//
// Checkpoint-Clock orders checkpoints that did not come after each other. Its value is the time of
// the save in nanoseconds. If the chain has the same or a later clock, the value is that clock plus
// one. The clock of a checkpoint never changes. A clock more than a day ahead of the committer date
// of its commit counts as that date, and no other clock follows it. Ages
// derive from committer dates, never from Checkpoint-Clock; lists show author dates.
//
// A ledger commit changes the ledger without a new checkpoint. Its tree contains only the
// ledger, or is empty if the ledger has no entries. Its only parent is the chain below.
// Its message is "ledger of issue <issue>" with the trailers Checkpoint-Issue and
// Checkpoint-Version. The ledger in the tip's tree is the current one; older ledgers are
// history.
//
// The fact position of a ledger records that a person went back to an older checkpoint by a restore
// of all of its files. The work goes on from this checkpoint until the next save. The newest position
// of all checkpoints counts, unless the newest checkpoint has the same or a later clock.
//
// A clone whose chain is shallow archives and drops checkpoints with a ledger commit alone.
// Their commits stay in the chain and are hidden. If all checkpoints go, a fact "ended" of the ledger
// concerns also those below the boundary, which the clone cannot name.
// A complete clone that fetches or synchronizes the chain removes the commits, and moves
// the archived checkpoints to the archive.
//
// # Moving refs
//
// One git update-ref moves all refs of a command. Each move names the expected old value
// (compare-and-swap) and adds a reflog entry. The processes of this program also lock the issue.
//
// If git is killed between two refs, the first ones have moved. The entry of the operation moves
// first, and a checkpoint arrives at a place before it leaves another. So it can be in the chain
// and in the archive, where it counts as live. A chain accounts for an older value of own/. An undo first stores its entry as pending, and
// the next undo completes it.
//
// A killed git leaves lock files. The next command that moves their refs, and has the lock of the
// issue, sets them aside if they are a minute old. The locks of packed-refs and of reftables stay.
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
// chain, a reader shows what the ref says, and names the difference. The checkpoints are restored
// from own/ before the next change. That is why own/ is a chain of its own. If it was deleted too,
// its last value is read from $GIT_COMMON_DIR/git-checkpoint/own/<issue>.
//
// # Network
//
// This package uses the network in Fetch, Push, Sync, ScanPush, OpenRemote and RemoteHasBranch, and where a
// partial clone lacks an object, which git then fetches. Package freshness/issue/forge asks
// forges. Commands call these from sync, push, fetch, resume, list --remote, from hooks and with
// --push, and from scan. The settings issue_command and scan_command run programs of the user.
//
// # Guarantees
//
//   - If a save returns without an error, its checkpoint is never lost.
//   - If a save returns an error, nothing visible has changed. As an exception, a
//     DoneError names a checkpoint that was saved.
//   - Only restores, Facts.FindOrAddWorktree and Facts.SwitchBranch write outside of these refs
//     with their reflogs, the object database and $GIT_DIR/git-checkpoint.
//   - After a power loss, no ref points to a lost object: objects become durable before
//     the refs do. This includes objects that git wrote without a sync.
//
// Package testing/storetest contains the full contract as tests.
package gitstore
