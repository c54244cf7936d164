package view

import (
	"git-checkpoint/gitstore/checkpoint"
)

// ScopeText describes which files a save captured.
func ScopeText(s checkpoint.Snapshot) string {
	text := "staged, modified, untracked files"
	switch s.Scope {
	case checkpoint.ScopeStaged:
		text = "staged files; other files as they were saved before"
	case checkpoint.ScopeCut:
		text = "the files that were read in time; other files as they were saved before"
	}
	if len(s.Skipped) > 0 && s.Scope != checkpoint.ScopeCut {
		text += "; some were left out"
	}
	return text
}

// WhyLeftOut returns the reason why a save did not capture a path, and the checkpoint whose version
// the state has instead.
func WhyLeftOut(f checkpoint.Skipped) string { return f.Reason + CarriedText(f) }

// CarriedText returns "; as in <id>" for a path whose version in the state comes from a checkpoint.
func CarriedText(f checkpoint.Skipped) string {
	if f.CarriedFrom == "" {
		return ""
	}
	return "; as in " + Clean(string(f.CarriedFrom))
}

// LeftOutRecords returns the records of files that a save did not capture.
func LeftOutRecords(skipped []checkpoint.Skipped) []LeftOut {
	list := []LeftOut{}
	for _, f := range skipped {
		list = append(list, LeftOut{Path: QuotePath(f.Path), CarriedFrom: string(f.CarriedFrom), Reason: f.Reason, Size: f.Size})
	}
	return list
}
