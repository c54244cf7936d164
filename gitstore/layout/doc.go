// Package layout reads and writes the documents of five other checkpoint systems: crunch,
// claude, recovery, dotagent and pipeline. It also reads, but does not write, the session
// metadata of entire.
//
// A layout is a codec with rules, not a second store. Read parses a document into a File,
// Apply converts a File into a record, and Of converts a record into documents. The
// packages do not access git, the file system or the clock. Package codec defines the
// stored form.
//
// Each system has its own package, which lists its kinds of documents. The list of all
// systems is in layout.go.
package layout
