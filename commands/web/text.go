package web

import (
	"time"

	"git-checkpoint/commands/internal/view"
)

// Limits of shown texts, in bytes. The stored text has the rest.
const (
	maxLine   = 400
	maxText   = 8000
	maxRecord = 256 << 10
)

// firstLine returns the first line of a text.
func firstLine(s string) string { return view.CutBytes(view.FirstLine(s), maxLine) }

// A Stamp is a time in formats for users and machines.
type Stamp struct {
	Machine  string // RFC 3339, "" if the time is unknown
	Exact    string // date and time for users, in the local time zone
	Age, Ago string // "3h" and "3 hours ago"
}

func stamp(at, now time.Time) Stamp {
	if at.IsZero() {
		return Stamp{Exact: "at an unknown time"}
	}
	local := at.In(time.Local)
	return Stamp{local.Format(time.RFC3339), local.Format("2 Jan 2006, 15:04:05 MST"), view.Briefly(at, now), view.Ago(at, now)}
}
