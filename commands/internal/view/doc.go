// Package view renders what commands say: the standing of work, timelines, changes, JSON
// records, and the words in messages. It is pure: data, screen width, colour and the time
// are parameters. It decides nothing; verdicts, points and plans are values of other
// packages.
//
// A JSON record is one object on one line:
//
//	{"version":1,"type":TYPE,FIELD...}
//
// Fields follow the order of the Go struct. Times are RFC 3339 in UTC. An empty list is
// [], never null. A missing name, commit or time is null; empty text is "". Characters
// that are unsafe for terminals are \u escapes, so that records can be printed
// unmodified. New versions add fields but never rename or remove fields.
//
// Texts of records can contain anything. Clean escapes them before they are measured, cut
// or coloured, so shown data never contributes escape sequences. Information never depends
// on colour or position alone. Lines fit the screen width. Box-drawing and other graphic
// characters are avoided.
package view
