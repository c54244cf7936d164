// Package claude describes the documents of the claude system: the kinds checkpoint, of
// the original form and of versions 1.0 to 2.1, and workflow, of version 3.0. It also reads the
// files of related tools in the same folder: iteration, parallel, supervisor and snapshot.
package claude

import (
	"errors"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// Name is the name of the system.
const Name codec.Name = "claude"

// System returns the claude system.
func System() *codec.System {
	return &codec.System{
		Name: Name,
		Kinds: []*codec.Kind{
			checkpointKind(), workflowKind(), iterationKind(), parallelKind(), supervisorKind(), snapshotKind(),
		},
		Folder:   ".claude/checkpoints",
		Files:    issueFiles,
		Failed:   failedFolder,
		List:     listing,
		Begin:    begin,
		Complete: complete,
	}
}

// begin requires a type, and names the workflow after its type and project.
func begin(s codec.Start) (codec.Beginning, error) {
	if s.Type == "" {
		return codec.Beginning{}, errors.New("a claude workflow has a type: orchestrate, implement, test-all or another one")
	}
	if s.Project == "" {
		return codec.Beginning{}, nil
	}
	return codec.Beginning{Key: s.Type + "_" + snake(s.Project)}, nil
}

// issueFiles puts a failed workflow into the subfolder failed.
func issueFiles(records []*checkpoint.Record) ([]codec.Output, error) {
	newest := records[len(records)-1]
	out, err := System().Of(newest)
	if workflow.StatusOf(values.Text(newest.Doc(), "workflow.status")) == workflow.Failed {
		for i := range out {
			out[i].Path = failedFolder + out[i].Path
		}
	}
	return out, err
}

// failedFolder is the subfolder of failed workflows.
const failedFolder = "failed/"

// listing lists failed workflows separately.
func listing(files []codec.ListedFile) string {
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
	text := ""
	if active != "" {
		text = "Active Checkpoints:\n" + active
	}
	if failures != "" {
		text += "Failed Checkpoints:\n" + failures
	}
	return text
}

// statuses lists the status values of claude documents.
var statuses = []string{workflow.InProgress, workflow.Completed, workflow.Failed, workflow.Aborted, workflow.Halted}

// unreadVersions returns a list of supported versions, "" if the major version is known. A version
// of another form of document is named with its key.
func unreadVersions(version string, known ...string) string {
	major, _, _ := strings.Cut(version, ".")
	switch {
	case slices.Contains(known, major):
		return ""
	case major == "3":
		return codec.OtherForm + "with the key workflow_data"
	case major == "1" || major == "2":
		return codec.OtherForm + "without the key workflow_data"
	}
	return "1.0 to 2.1 and 3.0"
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
