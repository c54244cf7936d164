// Package tasks moves the tasks of a record: who works on one, what came of it
// and what can be done next. It is pure: the caller reads the files and saves.
//
// # Where tasks are
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
// A task may be in one place or in both; a move is written to all. What nobody
// here knows stays as it is.
//
// # How they move
//
//	pending   -> running     Start, which counts an attempt
//	running   -> complete    Done, from any other status too: it is a fact
//	          -> failed      Fail; what depends on it waits: a task is blocked,
//	                         a node of the graph skipped
//	          -> pending     Fail with TimedOut, once, or Recover without output
//	failed    -> running     Start again, within the limit of attempts
//
// A task that runs can be suspected, since suspected_at, which counts nothing:
// Clear takes it back, and so does every move.
//
// A move that was made already changes nothing: ErrNothing says so. Attempts
// count what was begun and, in a pending task, the one that is due.
package tasks
