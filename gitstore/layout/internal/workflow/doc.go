// Package workflow converts the phases, status words and tasks of other systems into the
// sections of a record, and back. The functions that update a document change only values
// that differ from the record, so that the spelling of equal values is preserved.
package workflow
