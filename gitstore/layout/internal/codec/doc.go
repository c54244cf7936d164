// Package codec describes a checkpoint system by its kinds of documents, and reads and
// writes documents by this description.
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
package codec
