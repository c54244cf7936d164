package story

import "git-checkpoint/gitstore/checkpoint"

// idle is the key in the lead's record for workers without signs of life.
const idle = "suspicious_idle"

// Suspect marks the worker of a story as idle in the lead's record, and reports whether
// the mark is new.
func Suspect(r *checkpoint.Record, story string) bool {
	if Suspected(r, story) {
		return false
	}
	r.Doc().MustSub("pipeline").MustSub(idle).Set(story, true)
	return true
}

// Suspected reports whether the worker of a story is marked as idle.
func Suspected(r *checkpoint.Record, story string) bool {
	v, _ := r.Doc().Sub("pipeline").Sub(idle).Get(story)
	return v == true
}

// Clear removes the mark, and reports whether the mark existed.
func Clear(r *checkpoint.Record, story string) bool {
	was := Suspected(r, story)
	if m := r.Doc().Sub("pipeline").Sub(idle); m.Len() > 0 {
		m.Delete(story)
		if m.Len() == 0 {
			r.Doc().Sub("pipeline").Delete(idle)
		}
	}
	return was
}
