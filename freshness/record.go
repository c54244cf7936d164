package freshness

import (
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// checkCanResume reports the record's own warnings as reasons against a resume.
func checkCanResume(in input) []Reason {
	if in.record.CanResume() {
		return nil
	}
	var out []Reason
	for _, w := range in.record.Warnings() {
		out = append(out, reason("can_resume", StartFresh, "%s", printable(w)))
	}
	if len(out) == 0 {
		out = append(out, reason("can_resume", StartFresh, "Checkpoint is marked as not resumable"))
	}
	return out
}

// checkRecord reports the warnings of a resumable record.
func checkRecord(in input) []Reason {
	var out []Reason
	if in.record.CanResume() {
		for _, w := range in.record.Warnings() {
			out = append(out, reason("record", ProceedWithWarning, "%s", printable(w)))
		}
	}
	if left := in.record.Snapshot().LeftOut(); len(left) > 0 {
		out = append(out, in.leftOut(left))
	}
	if !in.record.PrerequisitesMet() {
		out = append(out, reason("record", ProceedWithWarning, "Prerequisites were not met at the checkpoint"))
	}
	return out
}

// leftOut returns a finding about files that a limit excluded from the checkpoint.
func (in input) leftOut(left []checkpoint.Skipped) Reason {
	r := reason("record", ProceedWithWarning, "%s not in the checkpoint: %s", isOrAre(len(left), "file"), printable(left[0].Path+", "+left[0].Reason))
	for _, f := range left {
		if f.Path == "." || f.Reason == checkpoint.OutOfTime {
			r.Message = "Files are not in the checkpoint: " + printable(f.Reason)
		}
		r.Detail = append(r.Detail, printable(f.Path+": "+f.Reason))
	}
	if in.facts.Fuller != "" {
		r.Hint = command("git", "checkpoint", "resume", in.facts.Name, in.facts.Fuller)
	}
	return r
}

func isOrAre(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return count(n, what) + " are"
}

func checkTime(in input) []Reason {
	t, now := in.record.CreatedAt(), in.facts.Now
	switch {
	case t.IsZero():
		return []Reason{unchecked("time", "Checkpoint time", "created_at is missing or cannot be read")}
	case now.IsZero():
		return []Reason{unchecked("time", "Checkpoint time", "the time of now is not known")}
	}
	age, limit := now.Sub(t), in.rules.maxAge()
	written := checkpoint.FormatTime(t)
	switch {
	case age < -DefaultTolerance:
		return []Reason{reason("time", ProceedWithWarning, "Checkpoint time %s is more than %s in the future: a clock is wrong", written, span(DefaultTolerance))}
	case age < -DefaultSkew:
		return []Reason{reason("time", ProceedWithWarning, "Checkpoint time %s is in the future", written)}
	case limit > 0 && age > limit:
		return []Reason{reason("time", ProceedWithWarning, "Checkpoint is older than %s: %s", span(limit), written)}
	}
	return nil
}

// aged reports whether the checkpoint's age is known.
func (in input) aged() bool { return !in.record.CreatedAt().IsZero() && !in.facts.Now.IsZero() }

// old reports whether the checkpoint is older than the age limit.
func (in input) old() bool {
	limit := in.rules.maxAge()
	return in.aged() && limit > 0 && in.facts.Now.Sub(in.record.CreatedAt()) > limit
}

// span formats a duration in days if possible, otherwise in hours.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d%day == 0:
		return count(int(d/day), "day")
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return d.String()
}
