// Package refs reads refs and their reflogs, and moves refs that are files, as git
// does and beside git, without a git process.
//
// A ref of git's files backend is a file below the repository's folder, or a
// line of packed-refs where it has no file of its own. Who moves one makes the
// file "<ref>.lock", which must not exist; looks whether the ref still is where
// it was expected; appends a line to the reflog; and renames the lock, which
// holds the new value, to the ref (gitrepository-layout(5), and what git's own
// update-ref does). Readers see the old value or the new.
//
// Git writes into the lock after it has made it. Here the value is in a file of
// another folder first, on the disk, and the lock is a link to it. So a lock is
// never empty or half written, whenever its maker is killed, and who finds one
// can tell whose it is by what it holds.
//
// Only the common case is done here: refs that exist, have a reflog, are no
// symbolic ones and that nobody else has locked. Whatever else is found is left
// to git, which has the last word on it, before anything has changed.
package refs
