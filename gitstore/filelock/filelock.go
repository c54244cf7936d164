// Package filelock takes locks of files among processes. A lock lasts as long as
// the file is open, in this process or one that inherited it, and dies with them.
// Where there is no flock(2) nobody is kept out.
package filelock
