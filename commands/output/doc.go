// Package output writes what commands print: the records of --json, tables,
// and text that is safe on a terminal or in a shell.
//
// A record is one JSON object on one line. It begins with "version":1 and
// "type"; the other fields follow in the order of its struct. Times are
// RFC 3339 in UTC. A list that is empty is [], never null. A name, commit or
// time that does not exist is null; a text that is empty is "". Characters
// that no terminal should get are written as \u escapes, so the line may be
// shown as it is.
//
// Fields are added, never renamed or removed.
package output
