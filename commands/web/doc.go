// Package web is a page on loopback for looking at checkpoints, and the same
// page as one file.
//
//	/                              the issues
//	/i/ISSUE                       where an issue stands, and its timeline
//	/i/ISSUE/archive               what was archived of it
//	/i/ISSUE/c/ID                  a checkpoint: freshness, record, files
//	/i/ISSUE/c/ID/diff             what it changed, against another one
//	/i/ISSUE/c/ID/raw              its record as it is stored
//	/i/ISSUE/c/ID/{pin,unpin,archive,drop}   GET asks, POST does it
//
// ISSUE is the last component of the ref, and ID a checkpoint's id or
// commit, both escaped for a URL.
//
// # What it promises
//
// Nothing is served without the token that the URL printed at the start
// carries; a browser gets a cookie for it. Nothing is served under a host name
// that is neither loopback's nor the address that was chosen, so a name that
// was made to point here gets nothing. What another page in the browser asks
// for is refused. A page runs no script but its own, loads nothing, and can be
// put into no frame. Nothing is changed without Options.Write, and then only
// by a form that this program wrote for that very change.
//
// Text of records, notes, names and files is hostile: it is escaped, what
// cannot be seen or turns the direction of text is spelled out, and no link is
// made from it.
//
// Models (Timeline, Record, Diff ...) are values made by pure functions;
// templates are parsed when the first page is made, since every command links
// this package.
package web
