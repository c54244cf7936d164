// Package refs reads refs and reflogs, and updates refs of the files backend without a
// git process. It is safe to use beside git. It also locks the refs of an issue against
// other processes of this program, see IssueLock.
//
// In git's files backend, a ref is a file in the repository, or a line of packed-refs if
// that file does not exist. An update creates the file "<ref>.lock" and fails if it
// exists. It compares the ref with the expected old value and appends a reflog entry.
// Then it renames the lock file, which contains the new value, to the ref. See
// gitrepository-layout(5) and git update-ref. Readers see the old value or the new value.
//
// Git creates the lock file first and writes the value afterwards. Stage writes the value
// to a file in another directory, and the caller syncs that file. Commit creates the lock
// as a hard link to it. So its locks are always complete, even if the process is killed,
// and their content identifies the owner.
//
// This package updates only existing, direct refs that have a reflog and are not locked.
// In all other cases it fails with ErrNeedsGit before any change, and git updates the
// refs.
package refs
