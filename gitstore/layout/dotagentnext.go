package layout

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// A NextStep is how the work of another system goes on, by the files that are
// there: what to do, in the phase to go on with, and why.
type NextStep struct{ Action, Phase, Why string }

// What a Next has to be done. Others name whom to spawn.
const (
	Advance   = "advance"    // to the phase
	Continue  = "continue"   // with tasks
	Settle    = "recover"    // tasks that ran when the work was cut off
	Represent = "re-present" // what a person has to choose from
	Finished  = "complete"   // nothing is left to do
)

// A Look looks for the files of a pattern, of path.Match and with slashes: how
// many there are that are whole, and how many that are not.
type Look func(pattern string) (whole, broken int)

// outputsOf are the files that say that a phase of dotagent is over, and what to
// do without them.
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

// NextOf returns how a workflow goes on whose record was made of a document of
// dotagent; false where it was not, or the phase is none of that system's.
func NextOf(r *checkpoint.Record, files Look) (NextStep, bool) {
	p := r.Progress()
	at := p.Current
	if slices.Contains(p.Completed, at) && len(p.Remaining) > 0 {
		at = p.Remaining[0]
	}
	switch {
	case Name(r.Layout()) != Dotagent || !slices.Contains(dotagentPhases, at):
		return NextStep{}, false
	case len(p.Names) > 0 && len(p.Remaining) == 0:
		return NextStep{Finished, at, "every phase is complete"}, true
	case at == "IMPLEMENTATION":
		return nextTask(r), true
	}
	return nextPhase(r, at, files), true
}

// nextPhase goes by the outputs of a phase: one that has them is never run
// again.
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
		return NextStep{Represent, at, "the designs are there, and nobody has chosen"}
	}
	return NextStep{"spawn:roundtable", at, "the designs are there, without a final one"}
}

// phaseOver goes on with the phase after one that is over.
func phaseOver(at, why string) NextStep {
	i := slices.Index(dotagentPhases, at)
	if i == len(dotagentPhases)-1 {
		return NextStep{Finished, at, why}
	}
	return NextStep{Advance, dotagentPhases[i+1], why}
}

// nextTask goes by the tasks.
func nextTask(r *checkpoint.Record) NextStep {
	const at = "IMPLEMENTATION"
	l := tasks.Of(r)
	switch all, left := l.All(), l.Left(); {
	case len(l.Running()) > 0:
		return NextStep{Settle, at, "tasks were running"}
	case len(all) > 0 && len(left) == 0:
		return phaseOver(at, "every task is complete")
	case len(l.Ready()) > 0:
		return NextStep{Continue, at, "ready: " + strings.Join(l.Ready(), ", ")}
	}
	return NextStep{Continue, at, "no task is ready"}
}
