// Package layout reads and writes the documents of five other checkpoint
// systems: crunch, claude, recovery, dotagent and pipeline.
//
// A layout is a codec and rules, never a second way to save: Read makes a File
// of a document, Apply puts it into a record, and Of gives it back from one.
// It knows nothing of git, directories or time.
//
// # What is kept
//
// crunch is the trunk of the record itself. A document of the other layouts is
// kept whole in the record, beside what the record's own sections say of it:
//
//	layout:
//	  name: claude
//	  files:
//	    checkpoint:                 the kind of document
//	      name: <base name it was read from>
//	      version: "1.2"            the generation it was in
//	      indent: 2                 of its JSON; 0 is all on one line
//	      text: |                   where its bytes are not what Of would write
//	      document: {...}           as migrated, keys in their order
//
// Of changes in the document only what the record's sections say otherwise:
// keys that nobody knows survive, in their order. Where nothing changed since
// it was read, it gives the bytes that were read.
//
// # The kinds
//
//	crunch    checkpoint (YAML, or JSON in its first generation), story (a log of
//	          lines that kindred tools write, read whether it is YAML or not)
//	claude    checkpoint (1.0 to 2.1, read as 2.1), workflow (3.0), iteration,
//	          parallel, supervisor, snapshot (kindred tools' files in the same folder)
//	recovery  workflow
//	dotagent  phase, execution, phases and tasks (kindred tools' state files)
//	pipeline  story, state, run (a real run's one file), other (kindred tools'
//	          files at the same path); generations 1.0.0a, 1.0.0, 4.0.0, run
package layout
