package saving

import (
	"fmt"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
)

// checkPhase returns an error if --strict is set and the phase is unknown.
func (e *edit) checkPhase(r *checkpoint.Record) error {
	problem := unknownPhase(r, e.rules)
	if !e.strict || problem == "" {
		return nil
	}
	return exit.Errorf(exit.Usage, "git config checkpoint.phases <phase>,<phase>...", "save: %s", problem)
}

// unknownPhase returns a message if the record's phase is unknown. It returns "" if
// phases are only counted or if the record's layout defines the phases.
func unknownPhase(r *checkpoint.Record, rules freshness.Rules) string {
	names, total := r.Progress().Names, r.Progress().Total
	phase := r.Phase()
	if phase == "" || len(names) == 0 && total > 0 || r.Layout() != "" && r.Layout() != "crunch" || rules.KnownPhase(phase, names) {
		return ""
	}
	return fmt.Sprintf("phase %s is none of %s", phase, phrase.List(rules.KnownPhases(names)))
}

// applyDigests records current digests of the record's plan and outputs.
func (e *edit) applyDigests(r *checkpoint.Record) error {
	outputs, plan := r.Outputs(), r.PlanPath()
	var places []string
	for _, o := range outputs {
		places = append(places, o.Location)
	}
	if plan != "" {
		places = append(places, plan)
	}
	digests, err := e.store.Digests(e.ctx, places)
	if err != nil {
		return err
	}
	for _, o := range outputs {
		r.SetOutputDigest(o.Agent, o.Action, digests[o.Location])
	}
	if plan != "" {
		r.SetPlanDigest(digests[plan])
	}
	return nil
}
