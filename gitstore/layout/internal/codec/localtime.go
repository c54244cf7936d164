package codec

import (
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// writing is the maximum delay between a document's time and the modification of its
// file.
const writing = 2 * time.Minute

// LooksLocal adds a warning if the write time claims UTC but is probably local time. This
// is the case if its distance from the file's modification time equals the UTC offset of
// zone. The time itself is not changed, because the file may come from another machine.
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
