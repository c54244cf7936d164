// Package output formats command output: JSON records for --json, tables, and safe text
// for terminals and shells.
//
// A record is one JSON object on one line:
//
//	{"version":1,"type":TYPE,FIELD...}
//
// Fields follow the order of the Go struct. Times are RFC 3339 in UTC. An empty list is
// [], never null. A missing name, commit or time is null; empty text is "". Characters
// that are unsafe for terminals are \u escapes, so that records can be printed
// unmodified.
//
// New versions add fields but never rename or remove fields.
package output
