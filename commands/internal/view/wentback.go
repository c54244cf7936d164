package view

import (
	"cmp"
	"fmt"
	"time"

	"git-checkpoint/gitstore"
)

// WentBackText describes a person's restore of a checkpoint that is not the newest, such as
// "Ann went back to CP-... (Turn: fix the test) 2 minutes ago; 5 later checkpoints were left:
// CP-..., CP-... and 3 more". It returns "" without such an event.
func WentBackText(p *gitstore.Point, now time.Time) string {
	if !p.WentBack() {
		return ""
	}
	var left []string
	for i := range p.Later {
		left = append(left, p.Later[i].Name())
	}
	const few = 3
	were := "were"
	if len(left) == 1 {
		were = "was"
	}
	return fmt.Sprintf("%s went back to %s (%s) %s; %s %s left: %s", cmp.Or(p.By, "a person"), p.Name(),
		Truncate(Title(p.Checkpoint, nil, nil), 60), Ago(p.At, now), Plural(len(left), "later checkpoint"), were, List(Few(left, few)))
}

// WentBackRecord returns the JSON record of WentBackText, or nil.
func WentBackRecord(p *gitstore.Point) *WentBack {
	if !p.WentBack() {
		return nil
	}
	r := &WentBack{CheckpointID: p.Name(), By: p.By, At: p.At}
	for i := range p.Later {
		r.Left = append(r.Left, p.Later[i].Name())
	}
	return r
}
