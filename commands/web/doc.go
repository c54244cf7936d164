// Package web serves a web page for checkpoints, by default on a loopback address, and
// exports this page as a single file.
//
//	/                              the issues
//	/i/ISSUE                       progress and timeline of an issue
//	/i/ISSUE/archive               archived checkpoints
//	/i/ISSUE/c/ID                  a checkpoint: freshness, record, files
//	/i/ISSUE/c/ID/diff             changes since another checkpoint
//	/i/ISSUE/c/ID/raw              stored record
//	/i/ISSUE/c/ID/{pin,unpin,archive,drop}   GET asks, POST executes
//
// ISSUE is the last component of the ref. ID is a checkpoint's id or commit. Both
// are escaped for URLs.
//
// # Security
//
// Each request needs the token in the printed URL; browsers receive a cookie with this
// token. The Host header must name a loopback address, the configured host or the
// connection's local address, which prevents DNS rebinding. Requests from other pages in
// the browser are rejected. A page runs only its own script, loads no external resources,
// and refuses frames. Changes require Options.Write and a form that this program
// generated for the same change.
//
// Text of records, notes, names and files is hostile. It is HTML-escaped, invisible and
// bidirectional control characters are shown as escapes, and such text never becomes a
// link.
//
// # Structure
//
// Models (Timeline, Record, Diff ...) are values from pure functions. Templates are
// parsed for the first page, because every command links this package.
package web
