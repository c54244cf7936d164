// Package freshness judges whether a checkpoint still fits the branch, the
// issue and the files it was taken from.
//
// Evaluate is pure: it takes the record, the facts of now as values and the
// rules, and returns a verdict. Gathering the facts is the caller's work.
//
// Every check runs and every finding is reported, in the order of this table.
// The worst action wins:
//
//	start_fresh > prompt_user > proceed_with_warning > resume
//
//	check       finding                                    action
//	labels      differ, as sets                            proceed_with_warning
//	body        differs                                    prompt_user
//	branch      known to be gone                           start_fresh
//	            never seen here, or renamed                proceed_with_warning
//	            replaced by one that a person named        resume, with a note
//	            another than the one that HEAD is on       prompt_user
//	can_resume  false in the record                        start_fresh
//	head        moved on from the checkpoint's             resume, with a note
//	            does not descend from the checkpoint's     prompt_user
//	base        has commits that HEAD does not             resume, with a note
//	files       changed since, against the snapshot        prompt_user
//	            the same, and already answered             proceed_with_warning
//	outputs     a referenced file is missing               prompt_user
//	            is not what its digest says                proceed_with_warning
//	time        in the future, or older than MaxAge        proceed_with_warning
//	progress    phases out of order                        prompt_user
//	            phases recorded twice                      proceed_with_warning
//	tasks       running at the checkpoint                  proceed_with_warning
//	            the current batch is none that there is    proceed_with_warning
//	story       paused: a limit was passed                 prompt_user
//	approval    pending                                    prompt_user
//	workflow    a write of the state was interrupted       prompt_user
//	            tests failing, an error, not in progress,
//	            another plan                               proceed_with_warning
//	            with Auto: the first of these, or the age  prompt_user
//	            dotagent's, not in progress                prompt_user
//	command     another than began it, and no handover     prompt_user
//	issue       closed, title or assignees changed         proceed_with_warning
//	record      its warnings, prerequisites not met,
//	            files left out by a limit                  proceed_with_warning
//	loop        resumed for the third time without a save  proceed_with_warning
//
// Findings that only the caller can make (Facts.Findings) come last.
//
// What cannot be known (offline, no source, a clone without the branch) is a
// finding of its check too, "... not checked: why", with proceed_with_warning:
// it is neither fresh nor an error. What the checkpoint never recorded needs no
// check: a detached HEAD has no branch to be gone, and a checkpoint without an
// issue snapshot has nothing to differ from where no issue is looked for.
//
// Notes, which leave the action at resume, are no warnings. Where the labels
// differ, the verdict names the phase that the new state label stands for.
//
// With Rules.Auto nobody looks at warnings, so a run that should not just go on
// needs an answer: tests passing, no error, status in_progress, an age within
// the limit and the plan unchanged are the conditions, and the first one that is
// not met is told, in a fixed text. Verdict.SafeWhy has it in any case.
//
// Bodies are compared without regard to line endings and to white space at the
// end: trackers and file formats differ in both.
package freshness
