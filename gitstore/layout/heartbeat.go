package layout

import (
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// Heartbeat returns the last write time of a pipeline lead's state. It returns zero if
// the record has no such state or if the pipeline is complete.
func Heartbeat(r *checkpoint.Record) time.Time {
	state := sub(r.Doc(), "layout.files.state.document")
	if r.Layout() != string(Pipeline) || state.Len() == 0 || get(state, "complete") != false {
		return time.Time{}
	}
	at, err := checkpoint.ParseTime(get(state, "last_check"))
	if err != nil {
		return time.Time{}
	}
	return at
}
