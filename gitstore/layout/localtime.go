package layout

import (
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A system writes the time and then its file: they are this close.
const writing = 2 * time.Minute

// LooksLocal notes a time of writing that says it is UTC and was that of a clock
// on the wall: it stands as far from when the file was changed as clocks in zone
// did from UTC. The time is left as it is: another machine may have changed the
// file.
func (f *File) LooksLocal(changed time.Time, zone *time.Location) {
	text, _ := f.Written().(string)
	at, err := checkpoint.ParseTime(text)
	if err != nil || !strings.HasSuffix(text, "Z") {
		return
	}
	_, seconds := changed.In(zone).Zone()
	off := time.Duration(seconds) * time.Second
	if off == 0 || (at.Sub(changed)-off).Abs() > writing {
		return
	}
	f.Problems = append(f.Problems, Problem{
		Rule: "zone", Warning: true,
		Msg: fmt.Sprintf("%s looks like local time: the file was changed at %s, and clocks stood at %s from UTC then", text,
			changed.UTC().Format(time.RFC3339), changed.In(zone).Format("-07:00")),
	})
}
