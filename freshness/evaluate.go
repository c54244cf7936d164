package freshness

import "git-checkpoint/gitstore/checkpoint"

// input is what every check gets.
type input struct {
	record *checkpoint.Record
	issue  checkpoint.IssueSnapshot
	facts  Facts
	rules  Rules
}

// checks run in the order in which their findings are reported: the labels,
// the body and the branch come first.
var checks = []func(input) []Reason{
	checkLabels, checkBody, checkBranch, checkCanResume, checkHead, checkBase,
	checkFiles, checkOutputs, checkTime, checkProgress, checkTasks, checkStory, checkApproval, checkWorkflow,
	checkHandover, checkIssue, checkRecord, checkLoop, checkFindings,
}

// Evaluate runs every check on the checkpoint's record and returns the worst
// action with all reasons. It needs a record that could be read: a corrupt one
// is refused before there is anything to judge.
func Evaluate(r *checkpoint.Record, f Facts, rules Rules) Verdict {
	in := input{record: r, issue: r.IssueSnapshot(), facts: f, rules: rules}
	var v Verdict
	for _, check := range checks {
		v.Reasons = append(v.Reasons, check(in)...)
	}
	for _, reason := range v.Reasons {
		v.Action = max(v.Action, reason.Action)
	}
	v.CanResume = v.Action < StartFresh
	v.Stale = rules.Strict && len(v.Warnings()) > 0
	v.Safe, v.SafeWhy = in.safeToResume()
	v.Changed, v.InTheWay = f.Files.Changed, f.Files.InTheWay
	v.Awaiting = in.awaiting()
	v.StateLabel, v.Phase = in.followLabels()
	v.Next, v.Old = f.Next, in.old()
	return v
}

// checkFindings takes over what the caller found; it fills in a severity that
// was left out.
func checkFindings(in input) []Reason {
	var out []Reason
	for _, r := range in.facts.Findings {
		r.Action = min(max(r.Action, Resume), StartFresh)
		if r.Severity == "" {
			r.Severity = r.Action.Severity()
		}
		out = append(out, r)
	}
	return out
}
