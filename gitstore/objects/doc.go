// Package objects reads and writes git's object store with git's own guarantees.
//
// Reading. An objects directory holds loose objects
//
//	ab/cdef...            zlib("<type> <size>" NUL content)
//
// and packs, each with an index
//
//	pack/*.idx            names and offsets, see idx.go
//	pack/*.pack           whole objects and deltas, see entry.go and delta.go
//
// and may name other directories in info/alternates. Indexes and packs are
// mapped and searched in place, so the cost of a read does not grow with the
// repository. What a hostile or damaged file claims is checked before it is
// used: the answer is an error, never a panic, and never more memory than the
// bytes that are really there call for, up to 512 MiB an object.
//
// Writing. A Batch holds the objects of one operation. Flush writes them as
// loose objects that survive a loss of power, and freshens the ones that
// exist, as git does, so that a gc that is running does not take them away.
// FlushPack makes one pack of many through git.
package objects
