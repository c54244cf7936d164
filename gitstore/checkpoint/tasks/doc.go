// Package tasks applies status changes to the tasks of a record: workers, results and the
// next possible tasks. All functions are pure: the caller reads files and saves the
// record.
//
// # Storage
//
//	tasks:                       by id, or a list of mappings with an id
//	  T1: {status: complete, attempts: 1, output: out/T1.json, depends_on: [T0],
//	       claimed_by: worker 7, started_at: ..., completed_at: ..., error: ...}
//	execution_graph:
//	  nodes: [{id: T1, dependencies: [T0], critical: true}]
//	  edges: [{from: T0, to: T1, type: data}]   type approval: a person
//	                             approves T1 when T0 is complete
//	  batches: [{batch_id: 1, tasks: [T0]}]
//	  completed_batches: [1]
//	  current_batch: 2
//	  node_states:
//	    T1: {status: running, started_at: ...}
//
// A task can be stored in one place or in both; changes are written to both. Unknown keys
// and values are preserved.
//
// # Status changes
//
//	pending   -> running     Start, which counts an attempt
//	running   -> complete    Done, from any other status too: a fact
//	          -> failed      Fail; dependent tasks wait: status blocked, or
//	                         skipped in the graph
//	          -> pending     Fail with TimedOut, once, or Recover without output
//	failed    -> running     Start again, within the limit of attempts
//
// A running task can be suspected (suspected_at), which counts no attempt. Clear and
// every status change remove the suspicion.
//
// A repeated change modifies nothing and returns ErrNothing. The attempts of a pending
// task include its next attempt, if an earlier attempt was lost.
package tasks
