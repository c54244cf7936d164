package story

import "git-checkpoint/gitstore/checkpoint"

// idle is where the lead keeps which workers give no sign of life.
const idle = "suspicious_idle"

// Suspect notes in the lead's record that the worker of a story gives no sign of
// life, and reports whether that is new.
func Suspect(r *checkpoint.Record, story string) bool {
	if Suspected(r, story) {
		return false
	}
	r.Doc().MustSub("pipeline").MustSub(idle).Set(story, true)
	return true
}

// Suspected reports whether that is noted.
func Suspected(r *checkpoint.Record, story string) bool {
	v, _ := r.Doc().Sub("pipeline").Sub(idle).Get(story)
	return v == true
}

// Clear takes it back, and reports whether it was noted.
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
