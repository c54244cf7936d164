// Package progress applies phase transitions to the record of a workflow.
//
// Readers apart, each function is one transition: it changes the given record, or returns
// an error and leaves the record unchanged. Transitions have no side effects. If a save
// loses a race, it applies its transition again to the newer record.
//
// Callers identify a phase by number, from 1, or by name. If the workflow has names, a
// number is the position of a name. Stored keys:
//
//	workflow:
//	  type, project, description, plan_path
//	  status        in_progress, completed, failed or aborted
//	  started_at, updated_at, finished_at, last_error
//	  abort_info    {decision, failed_phase, timestamp, reason, error_description}
//	progress:
//	  current       the first unfinished phase; after the last numbered phase the
//	                next number, after the last named phase empty
//	  completed     a set, in phase order
//	  skipped       skipped phases
//	  names, total  all phases by name, or their number
//	  phases        by phase: status, attempt, failures, started_at, timestamp,
//	                duration_minutes, summary, artifacts ({path, size, digest,
//	                title}), output, output_digest, error, reason
//	  replan_history  {phase, reason, timestamp, forced}, append-only
//	  approved, awaiting_approval, approval_required
//
// workflow_state holds the phase of the checkpoint itself: a checkpoint at the end of
// phase 2 belongs to phase 2, while phase 3 is already current.
package progress
