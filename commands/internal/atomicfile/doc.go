// Package atomicfile replaces files that belong to other programs or to the
// user, such as settings and hook files.
//
//   - A reader sees the old content or the new: the content is written to a
//     temporary file in the same directory, synced and renamed.
//   - A file that changed after it was read is not replaced. Another program
//     may still write it between that check and the rename, which takes some
//     microseconds; no file system of every platform can close that gap.
//   - A symlink stays a symlink: the file that it leads to is replaced. Mode
//     and owner are kept. A file that is read-only, or that has other hard
//     links, is refused unless Force is set.
//   - Keep stores a copy of a file before it changes.
package atomicfile
