package saving

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// DocumentEdit returns the edit of a save that has a document and no flags. named
// reports whether the trigger does not come from the document.
func DocumentEdit(c *invoke.Invocation, doc *layout.File, trigger checkpoint.Trigger, named bool) func(*checkpoint.Record) (*checkpoint.Record, error) {
	e := &edit{
		doc: doc, trigger: trigger, named: named, session: c.Store.Session(newSession),
		now: c.Env.Now(), store: c.Store, rules: judge.Rules(c), ctx: c.Ctx,
	}
	return e.apply
}

// applyDocument merges the --as document into the record. A crunch document replaces the
// record. The other layouts keep the previous record's fields about the issue.
func (e *edit) applyDocument(r *checkpoint.Record) (*checkpoint.Record, error) {
	if e.doc == nil {
		layout.Forget(r)
		return r, nil
	}
	if err := e.doc.Against(r); err != nil {
		return nil, err
	}
	r = e.doc.Apply(r)
	if e.named {
		r.SetTrigger(e.trigger)
	}
	return r, nil
}

// whole reports whether the document is a complete record, which decides the resume point
// itself.
func (e *edit) whole() bool { return e.doc != nil && e.doc.Whole() }
