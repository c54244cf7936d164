// Package freshness decides whether a checkpoint still matches its branch, issue and
// files.
//
// Evaluate is pure: it takes the record, current facts as values, and rules, and returns
// a verdict. Callers gather the facts.
//
// Every check runs, and every finding is reported in the order of this table. The worst
// action wins:
//
//	start_fresh > prompt_user > proceed_with_warning > resume
//
//	check       finding                                    action
//	labels      sets of labels differ                      proceed_with_warning
//	body        differs                                    prompt_user
//	branch      deleted, and no remote has it              start_fresh
//	            deleted here, never seen, or renamed       proceed_with_warning
//	            replaced by a branch that the user named   resume, with a note
//	            HEAD is on another branch                  prompt_user
//	can_resume  false in the record                        start_fresh
//	head        descends from the checkpoint's HEAD        resume, with a note
//	            has diverged from it                       resume, with a note
//	            is behind it, or unrelated                 prompt_user
//	            another commit, in a shallow clone         prompt_user
//	base        has commits that HEAD does not             resume, with a note
//	files       changed since the snapshot                 prompt_user
//	            the same, and already answered             proceed_with_warning
//	outputs     a referenced file is missing               prompt_user
//	            a file differs from its digest             proceed_with_warning
//	time        in the future, or older than a week        proceed_with_warning
//	            the same for the times in a dotagent state proceed_with_warning
//	progress    phases out of order                        prompt_user
//	            phases recorded twice                      proceed_with_warning
//	tasks       running at the checkpoint                  proceed_with_warning
//	            the current batch does not exist           proceed_with_warning
//	story       paused: a limit was passed                 prompt_user
//	            the same for a story of the lead, or it
//	            differs from its own record                proceed_with_warning
//	approval    pending                                    prompt_user
//	tokens      turns spent more than MaxTokens            prompt_user
//	workflow    a write of the state was interrupted       prompt_user
//	            tests failing, an error, not in progress,
//	            changed plan                               proceed_with_warning
//	            with Auto: the first of these, or the age  prompt_user
//	            a dotagent record that is not in progress  prompt_user
//	command     begun by another command, no handover      prompt_user
//	issue       closed, title or assignees changed         proceed_with_warning
//	record      its warnings, prerequisites not met,
//	            files left out by a limit                  proceed_with_warning
//	loop        third resume without a save                proceed_with_warning
//
// Findings of the caller (Facts.Findings) come last.
//
// If a fact cannot be determined (offline, no source, a clone without the branch), its
// check returns a warning "... not checked: why" with proceed_with_warning. Such a
// checkpoint is neither fresh nor an error. Fields that the checkpoint never recorded are
// not checked. A detached HEAD has no branch that can be deleted. A checkpoint with neither
// body nor labels of the issue has no issue to compare if no source is configured.
//
// Notes leave the action at resume and do not count as warnings. If labels differ, the
// verdict names the phase of the new state label.
//
// If Rules.Auto is set, no user reads warnings, so five conditions have to be met: tests
// passing, no error, status in_progress, age within the limit, plan unchanged. The first
// unmet condition is reported with a fixed text and needs an answer. Verdict.AutoReason
// always has this text.
//
// Bodies are compared after normalizing line endings and trailing white space, because
// trackers and file formats differ in both.
package freshness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
)

// checks lists all checks in the order of their findings: labels, body and branch come
// first.
var checks = []func(input){
	checkLabels, checkBody, checkBranch, checkCanResume, checkHead, checkBase,
	checkFiles, checkOutputs, checkTime, checkStateTimes, checkProgress, checkTasks, checkStory, checkApproval, checkTokens, checkWorkflow,
	checkHandover, checkIssue, checkRecord, checkLoop, checkFindings,
}

// Evaluate runs every check on the checkpoint's record and returns the worst action with
// all reasons. The record must be readable; callers reject corrupt records before
// evaluation.
func Evaluate(r *checkpoint.Record, f Facts, rules Rules) Verdict {
	in := input{record: r, issue: r.IssueSnapshot(), facts: f, rules: rules}
	v := Verdict{Reasons: in.reasons()}
	for _, reason := range v.Reasons {
		v.Action = max(v.Action, reason.Action)
		v.Corrupt = v.Corrupt || reason.Corrupt
	}
	v.CanResume = v.Action < StartFresh && f.Files.Damaged == ""
	v.Stale = rules.Strict && len(v.Warnings()) > 0
	v.AutoResume, v.AutoReason = in.unattended()
	v.Awaiting = in.awaiting()
	_, v.Phase = in.followLabels()
	v.Files, v.Next, v.Stories = f.Files, f.Next, f.Stories
	v.Old = in.beyondMaxAge(in.written()) || in.beganLongAgo()
	v.At, v.Merged = in.point(v), f.Branch.Merged
	if f.Branch.State == BranchOther && r.Branch() != "" {
		v.Other = f.Branch
	}
	return v
}

// unattended reports whether a resume goes on without questions, and the reason: the first
// unmet condition of the previous run, or the worst finding of another check.
func (in input) unattended() (bool, string) {
	if unmet := in.unmet(); len(unmet) > 0 {
		return false, unmet[0].text
	}
	in.rules.Auto, in.rules.FilesAnswered = true, true
	var worst Reason
	for _, reason := range in.reasons() {
		if reason.Action > worst.Action {
			worst = reason
		}
	}
	if worst.Action > ProceedWithWarning {
		return false, worst.Message
	}
	return true, AllMet
}

// point returns the point at which the work goes on: that of the record, unless the issue's
// labels name another phase, or the files of a dotagent workflow another step.
func (in input) point(v Verdict) progress.Point {
	at, p := progress.PointOf(in.record), in.record.Progress()
	if v.Phase != "" && !at.Complete && (len(p.Remaining) == 0 || slices.Contains(p.Names, v.Phase)) {
		if at.Code == progress.Code(at.Phase) {
			at.Code = progress.Code(v.Phase)
		}
		at.Phase = v.Phase
	}
	switch v.Next.Action {
	case "":
	case finished:
		at = progress.Point{Complete: true}
	default:
		at = progress.Point{Phase: v.Next.Phase, Code: progress.Code(v.Next.Phase)}
	}
	if at.Complete && len(v.Awaiting) > 0 {
		at.Complete = false
	}
	return at
}

// finished is the action of Next for a complete workflow.
const finished = "complete"

// Rules that no setting changes.
const (
	DefaultMaxAge    = 7 * 24 * time.Hour // a checkpoint that is older has a warning
	DefaultTolerance = 14 * time.Hour     // local time written as UTC is off by up to 14 h
	DefaultSkew      = time.Minute        // between the clocks of two machines
	StatePrefix      = "state:"
)

// KnownPhase reports whether a phase exists in a record's own phases or in the rules'
// Phases. If there are no such phases, every phase is known.
func (r Rules) KnownPhase(phase string, of *checkpoint.Record) bool {
	known := r.KnownPhases(of)
	return known == nil || slices.Contains(known, phase) || slices.Contains(known, r.alias(phase))
}

// defaultPhases are the phases of the crunch system, including those that only its labels
// have.
var defaultPhases = []string{"backlog", "enrich", "ready", "implementing", "validation", "docs", "ready-to-merge", "done"}

// KnownPhases returns the phases that KnownPhase accepts, without aliases, or nil if it
// accepts every phase. Records of the crunch layout have default phases.
func (r Rules) KnownPhases(of *checkpoint.Record) []string {
	names := of.Progress().Names
	switch {
	case len(names) > 0:
		return append(slices.Clone(names), r.Phases...)
	case len(r.Phases) > 0:
		return r.Phases
	case of.Layout() == "crunch":
		return defaultPhases
	}
	return nil
}

// Rules are the settings of all checks. The zero value selects defaults.
type Rules struct {
	LabelsToPhase map[string]string // phases of labels, checked before StatePrefix
	Phases        []string          // ordered phases; if empty, order is not checked and default phases apply
	Handovers     []Handover        // allowed handovers between commands
	IssueFollows  bool              // the issue takes the labels of the checkpoint, so its own name no phase
	FilesAnswered bool              // the user already decided about changed files
	MaxTokens     int64             // limit of the tokens of all turns without cache reads, 0 for no limit
	Strict        bool              // any warning makes the verdict stale
	Auto          bool              // run without a user who reads warnings
}

// input holds the arguments of a check, and the findings so far.
type input struct {
	record *checkpoint.Record
	issue  checkpoint.IssueSnapshot
	facts  Facts
	rules  Rules
	found  *[]Reason
}

// reasons runs every check.
func (in input) reasons() []Reason {
	var found []Reason
	in.found = &found
	for _, check := range checks {
		check(in)
	}
	for k, reason := range found {
		if strings.HasSuffix(reason.Message, ": "+strings.Join(reason.Detail, ", ")) {
			found[k].Detail = nil // the message has it
		}
	}
	return found
}

// add adds a finding, and returns it for its details until the next one.
func (in input) add(check string, a Action, format string, args ...any) *Reason {
	*in.found = append(*in.found, Reason{Check: check, Action: a, Message: fmt.Sprintf(format, args...)})
	return &(*in.found)[len(*in.found)-1]
}

// unchecked adds a finding about an unknown fact.
func (in input) unchecked(check, what, why string) {
	in.add(check, ProceedWithWarning, "%s not checked: %s", what, failure.Printable(cmp.Or(why, "no data")))
}

// checkFindings adds the caller's findings.
func checkFindings(in input) { *in.found = append(*in.found, in.facts.Findings...) }

// alias returns the default phase with an alternative name, or "".
func (r Rules) alias(name string) string {
	if name == "e2e" && len(r.Phases) == 0 {
		return "validation"
	}
	return ""
}

// StateLabels returns unique state labels: labels with the prefix and labels in
// LabelsToPhase.
func (r Rules) StateLabels(labels []string) []string {
	var out []string
	for _, l := range set(labels) {
		if _, mapped := r.LabelsToPhase[l]; mapped || strings.HasPrefix(l, StatePrefix) {
			out = append(out, l)
		}
	}
	return out
}

// PhaseOfLabels returns the phase of the only state label of an issue, or "".
func (r Rules) PhaseOfLabels(labels []string) string {
	states := r.StateLabels(labels)
	if len(states) != 1 {
		return ""
	}
	return r.phaseOf(states[0], nil)
}

// phaseOf returns the phase of a state label. LabelsToPhase has priority; otherwise the
// label without prefix must be a known phase. It returns "" for other labels.
func (r Rules) phaseOf(label string, names []string) string {
	if phase, ok := r.LabelsToPhase[label]; ok {
		return phase
	}
	phases := r.Phases
	if len(phases) == 0 {
		phases = defaultPhases
	}
	phase, ok := strings.CutPrefix(label, StatePrefix)
	if alias := r.alias(phase); ok && alias != "" {
		return alias
	}
	if ok && (slices.Contains(phases, phase) || slices.Contains(names, phase)) {
		return phase
	}
	return ""
}
