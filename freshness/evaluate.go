package freshness

import "git-checkpoint/gitstore/checkpoint"

// input holds the arguments of a check.
type input struct {
	record *checkpoint.Record
	issue  checkpoint.IssueSnapshot
	facts  Facts
	rules  Rules
}

// checks lists all checks in the order of their findings: labels, body and branch come
// first.
var checks = []func(input) []Reason{
	checkLabels, checkBody, checkBranch, checkCanResume, checkHead, checkBase,
	checkFiles, checkOutputs, checkTime, checkProgress, checkTasks, checkStory, checkApproval, checkWorkflow,
	checkHandover, checkIssue, checkRecord, checkLoop, checkFindings,
}

// Evaluate runs every check on the checkpoint's record and returns the worst action with
// all reasons. The record must be readable; callers reject corrupt records before
// evaluation.
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

// checkFindings returns the caller's findings. It limits actions to the valid range and
// sets missing severities.
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
