// Package layout reads and writes the documents of five other checkpoint systems: crunch,
// claude, recovery, dotagent and pipeline. It also reads, but does not write, the session
// metadata of entire.
//
// A layout is a codec with rules, not a second store. Read parses a document into a File,
// Apply converts a File into a record, and Of converts a record into documents. The
// packages do not access git, the file system or the clock. Package codec defines the
// stored form.
//
// # Kinds
//
//	crunch    checkpoint (YAML, or JSON in its first version), story (a line log of
//	          related tools, read even if it is not valid YAML)
//	claude    checkpoint (1.0 to 2.1, read as 2.1), workflow (3.0), iteration,
//	          parallel, supervisor, snapshot (related tools' files in the same folder)
//	recovery  workflow
//	dotagent  phase, execution, phases, tasks and step (related tools' state files)
//	pipeline  story, state, run (the single file of a real run), other (related tools'
//	          files at the same path); versions 1.0.0a, 1.0.0, 4.0.0, run
//	entire    metadata, read-only
package layout
