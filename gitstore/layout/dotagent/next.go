package dotagent

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout/internal/codec"
)

// A NextStep is the next action of a dotagent workflow, with its phase and reason.
type NextStep struct{ Action, Phase, Why string }

// Values of NextStep.Action. Other actions name an agent to spawn.
const (
	advance   = "advance"    // to the phase
	proceed   = "continue"   // with tasks
	settle    = "recover"    // interrupted tasks
	represent = "re-present" // designs, for a person's choice
	Finished  = "complete"   // workflow complete
)

// A Look returns the number of complete and of broken files that match a pattern.
// Patterns have the syntax of path.Match.
type Look func(pattern string) (whole, broken int)

// outputsOf returns the files that mark a dotagent phase as complete, and the action if
// all are missing.
func outputsOf(phase string) (outputs []string, without string) {
	switch phase {
	case "REQUIREMENTS":
		return []string{"memory/reports/demand.json"}, "respawn:pm"
	case "ARCHITECTURE":
		return []string{"memory/reports/designs/final_design.json", "memory/reports/final_design.json"}, "respawn:architects"
	case "VERIFICATION":
		return []string{"memory/reports/verification.json"}, "respawn:qa"
	}
	return []string{"memory/reflections/*.json", "memory/reports/reflection*.json"}, "respawn:reflector"
}

// NextOf returns the next step of a dotagent workflow. It returns false if the record has
// another layout or an unknown phase.
func NextOf(r *checkpoint.Record, files Look) (NextStep, bool) {
	p := r.Progress()
	at := p.Current
	if slices.Contains(p.Completed, at) && len(p.Remaining) > 0 {
		at = p.Remaining[0]
	}
	switch {
	case codec.Name(r.Layout()) != Name || !slices.Contains(phases, at):
		return NextStep{}, false
	case len(p.Names) > 0 && len(p.Remaining) == 0:
		return NextStep{Finished, at, "every phase is complete"}, true
	case at == "IMPLEMENTATION":
		return nextTask(r), true
	}
	return nextPhase(r, at, files), true
}

// nextPhase returns the next step based on the outputs of a phase. A phase with outputs
// never runs again.
func nextPhase(r *checkpoint.Record, at string, files Look) NextStep {
	outputs, without := outputsOf(at)
	broken := 0
	for _, pattern := range outputs {
		whole, half := files(pattern)
		if broken += half; whole > 0 {
			return phaseOver(at, pattern+" is there")
		}
	}
	why := "there is no " + strings.Join(outputs, " or ")
	if broken > 0 {
		why = outputs[0] + " is broken"
	}
	designs, _ := files("memory/reports/designs/*.json")
	switch {
	case at != "ARCHITECTURE" || designs == 0:
		return NextStep{without, at, why}
	case slices.Contains(r.Awaiting(), at):
		return NextStep{represent, at, "the designs in memory/reports/designs are there, and nobody has chosen"}
	}
	return NextStep{"spawn:roundtable", at, "the designs are there, without a final one"}
}

// phaseOver returns the step after a complete phase.
func phaseOver(at, why string) NextStep {
	i := slices.Index(phases, at)
	if i == len(phases)-1 {
		return NextStep{Finished, at, why}
	}
	return NextStep{advance, phases[i+1], why}
}

// nextTask returns the next step based on task status.
func nextTask(r *checkpoint.Record) NextStep {
	const at = "IMPLEMENTATION"
	l := tasks.Of(r)
	switch all, left := l.All(), l.Left(); {
	case len(l.Running()) > 0:
		return NextStep{settle, at, "tasks were running"}
	case len(all) > 0 && len(left) == 0:
		return phaseOver(at, "every task is complete")
	case len(l.Ready()) > 0:
		return NextStep{proceed, at, "ready: " + strings.Join(l.Ready(), ", ")}
	}
	return NextStep{proceed, at, "no task is ready"}
}
