package layout

import (
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Folder returns the folder of a layout's files, relative to the worktree root.
func Folder(as Name, issue checkpoint.Issue) string {
	switch as {
	case Crunch:
		return ".claude/crunch/" + issue.RefName() + "/checkpoints"
	case Claude:
		return ".claude/checkpoints"
	case Recovery:
		return ".claude/data/checkpoints"
	case Dotagent:
		return "memory/state"
	}
	return ".pipeline"
}

// Files returns the files of a layout for the checkpoints of an issue, oldest first. The
// crunch layout has one file per checkpoint, an index and a link to the newest. Other
// layouts store only the newest state. The claude layout puts a failed workflow into the
// subfolder failed.
func Files(as Name, records []*checkpoint.Record) ([]Output, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("write %s: no checkpoint", as)
	}
	newest := records[len(records)-1]
	if as != Crunch || IsLog(newest) {
		out, err := Of(as, newest)
		if as == Claude && statusOf(text(newest.Doc(), "workflow.status")) == failed {
			for i := range out {
				out[i].Path = "failed/" + out[i].Path
			}
		}
		return out, err
	}
	var out []Output
	for _, r := range records {
		files, err := Of(as, r)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	index, err := crunchIndex(records)
	if err != nil {
		return nil, err
	}
	return append(out, Output{Path: "index.yaml", Data: index}, latestLink(out)), nil
}

// IsLog reports whether the record comes from a story log, the only crunch file of its
// issue.
func IsLog(r *checkpoint.Record) bool { return sub(r.Doc(), "layout.files.story").Len() > 0 }

func latestLink(files []Output) Output {
	return Output{Path: "latest", Link: strings.TrimPrefix(files[len(files)-1].Path, "/")}
}
