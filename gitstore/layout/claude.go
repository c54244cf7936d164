package layout

import (
	"errors"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// claudeSystem returns the claude system.
func claudeSystem() *codec.System {
	return &codec.System{
		Name: Claude,
		Kinds: []*codec.Kind{
			claudeCheckpoint(), claudeWorkflow(), claudeIteration(), claudeParallel(), claudeSupervisor(), claudeSnapshot(),
		},
		Folder: func(checkpoint.Issue) string { return ".claude/checkpoints" },
		Files:  claudeFiles,
		List:   claudeList,
		Begin:  claudeBegin,
	}
}

// claudeBegin requires a type, and names the workflow after its type and project.
func claudeBegin(s codec.Start) (codec.Beginning, error) {
	if s.Type == "" {
		return codec.Beginning{}, errors.New("a claude workflow has a type: orchestrate, implement, test-all or another one")
	}
	if s.Project == "" {
		return codec.Beginning{}, nil
	}
	return codec.Beginning{Key: s.Type + "_" + snake(s.Project)}, nil
}

// claudeFiles puts a failed workflow into the subfolder failed.
func claudeFiles(records []*checkpoint.Record) ([]codec.Output, error) {
	newest := records[len(records)-1]
	out, err := claudeSystem().Of(newest)
	if workflow.StatusOf(values.Text(newest.Doc(), "workflow.status")) == workflow.Failed {
		for i := range out {
			out[i].Path = failedFolder + out[i].Path
		}
	}
	return out, err
}

// failedFolder is the subfolder of failed workflows.
const failedFolder = "failed/"

// claudeList lists failed workflows separately.
func claudeList(files []codec.ListedFile) string {
	var active, failures string
	for _, f := range files {
		var marks []string
		if kind := f.Kind(); kind != "" && kind != "checkpoint" {
			marks = []string{"(" + kind + ")"}
		}
		line := "  " + f.Line(marks...)
		if strings.HasPrefix(f.Path, failedFolder) {
			failures += line
		} else {
			active += line
		}
	}
	return headed("Active Checkpoints:\n", active) + headed("Failed Checkpoints:\n", failures)
}

func headed(head, lines string) string {
	if lines == "" {
		return ""
	}
	return head + lines
}

// claudeStatuses lists the status values of claude documents.
var claudeStatuses = []string{workflow.InProgress, workflow.Completed, workflow.Failed, workflow.Aborted, workflow.Halted}

// unreadVersions returns a list of supported versions, "" if the major version is known.
func unreadVersions(version string, known ...string) string {
	if major, _, _ := strings.Cut(version, "."); !slices.Contains(known, major) {
		return "1.0 to 2.1 and 3.0"
	}
	return ""
}

// snake converts a name to lower-case letters, digits and '_'.
func snake(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, s), "_")
}
