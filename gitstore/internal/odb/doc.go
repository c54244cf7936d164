// Package odb reads and writes git's object database with the same guarantees as git.
//
// Reading: an objects directory contains loose objects
//
//	ab/cdef...            zlib("<type> <size>" NUL content)
//
// and packs, each with an index:
//
//	pack/*.idx            names and offsets, see idx.go
//	pack/*.pack           whole objects and deltas, see entry.go and delta.go
//
// The file info/alternates may name other objects directories. Index and pack files are
// memory-mapped and searched in place, so the cost of a read does not grow with the
// repository. Values from a hostile or damaged file are checked before use. Damage causes
// an error, never a panic. Memory use is bounded by the bytes that the file contains, and
// by 512 MiB per object.
//
// Writing: a Batch collects the objects of one operation. Flush writes loose objects that
// survive a power failure. Like git, Flush freshens existing objects, so that a
// concurrent gc does not delete them. FlushPack writes many objects as one pack with git
// index-pack.
package odb
