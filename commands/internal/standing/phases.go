package standing

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// ShowPhases prints the lines about the phases.
func ShowPhases(c *invoke.Invocation, r *checkpoint.Record) {
	for _, line := range PhaseLines(r) {
		c.Printf("%s: %s\n", line.Name, output.Clean(line.Text))
	}
}

type phaseLine struct{ Name, Text string }

// PhaseLines returns the non-empty lines about the phases.
func PhaseLines(r *checkpoint.Record) []phaseLine {
	p := r.Progress()
	return slices.DeleteFunc([]phaseLine{
		{"Completed", phrase.List(p.Completed)},
		{"Skipped", phrase.List(p.Skipped)},
		{"Remaining", phrase.List(p.Remaining)},
		{"Replans", replans(r)},
		{"Artifacts", artifactNames(r)},
	}, func(l phaseLine) bool { return l.Text == "" })
}

// replans lists the number of replans of each phase, ordered by the first replan.
func replans(r *checkpoint.Record) string {
	counts := progress.ReplanCounts(r)
	var phases, out []string
	for _, replan := range progress.Replans(r) {
		if !slices.Contains(phases, replan.Phase) {
			phases = append(phases, replan.Phase)
			out = append(out, fmt.Sprintf("phase %s: %d", replan.Phase, counts[replan.Phase]))
		}
	}
	return phrase.List(out)
}

func artifactNames(r *checkpoint.Record) string {
	var out []string
	for _, a := range progress.Artifacts(r) {
		if place := phrase.QuotePath(a.Path); !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return strings.Join(out, " ")
}

// artifacts returns the files that the phases produced.
func artifacts(r *checkpoint.Record) []output.Artifact {
	var out []output.Artifact
	for _, a := range progress.Artifacts(r) {
		out = append(out, output.Artifact{Phase: a.Phase, Path: phrase.QuotePath(a.Path), Size: a.Size, Digest: a.Digest, Title: a.Title})
	}
	return out
}
