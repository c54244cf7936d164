// Package progress moves the phases of a workflow, in its record.
//
// Every function but the readers is one transition: it changes the record it
// is given, or fails and leaves it as it was. None has effects, so a save
// that lost a race applies its transition again, to the record that came
// first.
//
// A phase is named as a person would: by its number, from 1, or by its name.
// Where the workflow has names, the number is the place among them. What is
// stored:
//
//	workflow:
//	  type, project, description, plan_path
//	  status        in_progress, completed, failed or aborted
//	  started_at, updated_at, finished_at, last_error
//	  abort_info    {decision, failed_phase, timestamp, reason, error_description}
//	progress:
//	  current       the first phase that is not completed; behind the last one
//	                its number goes on, a name has no successor
//	  completed     a set, in the order of the phases
//	  skipped       phases that nobody is to do
//	  names, total  the phases there are, by name or by their number
//	  phases        by phase: status, attempt, failures, started_at, timestamp,
//	                duration_minutes, summary, artifacts ({path, size, digest,
//	                title}), output, output_digest, error, reason
//	  replan_history  {phase, reason, timestamp, forced}, only ever longer
//	  approved, awaiting_approval, approval_required
//
// workflow_state has the phase that the checkpoint speaks of: a checkpoint of
// the end of phase 2 is one of phase 2, though phase 3 is the current one.
package progress
