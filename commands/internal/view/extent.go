package view

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// kindOf maps the classes of files in a snapshot to the words of git.
var kindOf = map[string]string{checkpoint.InIndex: "staged", checkpoint.InWorktree: "modified", checkpoint.InUntracked: "untracked"}

// ExtentText describes how much of each class of files a snapshot has.
func ExtentText(s checkpoint.Snapshot) string {
	e := s.Extent()
	var has, none []string
	for _, class := range []struct {
		name  string
		cover checkpoint.Coverage
	}{{checkpoint.InIndex, e.Index}, {checkpoint.InWorktree, e.Worktree}, {checkpoint.InUntracked, e.Untracked}} {
		switch kind := kindOf[class.name]; class.cover {
		case checkpoint.NoFiles:
			none = append(none, kind)
		case checkpoint.Partial:
			has = append(has, "some "+kind)
		default:
			has = append(has, kind)
		}
	}
	text := strings.Join(has, ", ") + " files"
	if len(none) > 0 {
		text += "; no " + strings.Join(none, ", no ") + " files"
	}
	if !e.Stated {
		text += "; it does not state which files it left out, since an earlier version saved it"
	}
	return text
}

// A LeftOutLine is a path that a snapshot does not have. Path is "." for unnamed files. Why has the
// kind of the files and the reason. Size is in bytes, 0 if unknown.
type LeftOutLine struct {
	Path, Why string
	Size      int64
}

// ListLeftOut returns the paths that a snapshot does not have, each path and reason once.
func ListLeftOut(s checkpoint.Snapshot) []LeftOutLine {
	type key struct{ path, reason string }
	kinds := map[key][]string{}
	var order []checkpoint.Skipped
	for _, f := range s.Skipped {
		k := key{f.Path, f.Reason}
		if _, known := kinds[k]; !known {
			order = append(order, f)
		}
		if kind := kindOf[f.Class]; !slices.Contains(kinds[k], kind) {
			kinds[k] = append(kinds[k], kind)
		}
	}
	list := make([]LeftOutLine, len(order))
	for i, f := range order {
		why := f.Reason
		if kind := strings.Join(kinds[key{f.Path, f.Reason}], ", "); kind != "" {
			why = kind + ": " + why
		}
		list[i] = LeftOutLine{f.Path, why, f.Size}
	}
	return list
}

// LeftOutRecords returns the records of files that a snapshot does not have.
func LeftOutRecords(skipped []checkpoint.Skipped) []LeftOut {
	list := []LeftOut{}
	for _, f := range skipped {
		list = append(list, LeftOut{Path: QuotePath(f.Path), Class: f.Class, Reason: f.Reason, Size: f.Size})
	}
	return list
}
