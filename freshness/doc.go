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
//	branch      deleted                                    start_fresh
//	            never seen in this clone, or renamed       proceed_with_warning
//	            replaced by a branch that the user named   resume, with a note
//	            HEAD is on another branch                  prompt_user
//	can_resume  false in the record                        start_fresh
//	head        descends from the checkpoint's HEAD        resume, with a note
//	            does not descend from it                   prompt_user
//	base        has commits that HEAD does not             resume, with a note
//	files       changed since the snapshot                 prompt_user
//	            the same, and already answered             proceed_with_warning
//	outputs     a referenced file is missing               prompt_user
//	            a file differs from its digest             proceed_with_warning
//	time        in the future, or older than MaxAge        proceed_with_warning
//	progress    phases out of order                        prompt_user
//	            phases recorded twice                      proceed_with_warning
//	tasks       running at the checkpoint                  proceed_with_warning
//	            the current batch does not exist           proceed_with_warning
//	story       paused: a limit was passed                 prompt_user
//	approval    pending                                    prompt_user
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
// not checked. A detached HEAD has no branch that can be deleted. A checkpoint without an
// issue snapshot has no issue to compare if the caller requests no comparison.
//
// Notes leave the action at resume and do not count as warnings. If labels differ, the
// verdict names the phase of the new state label.
//
// If Rules.Auto is set, no user reads warnings, so five conditions have to be met: tests
// passing, no error, status in_progress, age within the limit, plan unchanged. The first
// unmet condition is reported with a fixed text and needs an answer. Verdict.SafeWhy
// always has this text.
//
// Bodies are compared after normalizing line endings and trailing white space, because
// trackers and file formats differ in both.
package freshness
