// Package filelock provides file locks between processes. A lock lasts until all
// processes that have the file open, including child processes that inherit it, have
// closed it or exited. On systems without flock(2), the package locks no files.
package filelock
