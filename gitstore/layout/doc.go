// Package layout reads and writes the documents of five other checkpoint systems: crunch,
// claude, recovery, dotagent and pipeline. It also reads, but does not write, the session
// metadata of entire.
//
// A layout is a codec with rules, not a second store. Read parses a document into a File,
// Apply converts a File into a record, and Of converts a record into documents. The
// package does not access git, the file system or the clock.
//
// # Stored form
//
// A crunch document has the same schema as a record. Documents of other layouts are
// stored completely in the record, next to the sections derived from them:
//
//	layout:
//	  name: claude
//	  files:
//	    checkpoint:                 the kind of document
//	      name: <original base name>
//	      version: "1.2"            the original version
//	      indent: 2                 of its JSON; 0 for a single line
//	      text: |                   if its bytes differ from the output of Of
//	      document: {...}           as migrated, keys in their order
//
// Of changes only document keys that differ from the record's sections. Unknown keys are
// preserved in order. If the document is unchanged since Read, Of returns the original
// bytes.
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
