package work

import (
	"context"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// ChangeFilter returns the filter of a query about changes. It compares the states of an issue when
// it is asked for the first of its checkpoints. If that fails, it passes the error to failed, and
// selects none of them.
func ChangeFilter(ctx context.Context, s *gitstore.Store, q gitstore.ChangeQuery, failed func(error)) func(*gitstore.Checkpoint) bool {
	if len(q.Paths) == 0 && q.Content == "" {
		return func(*gitstore.Checkpoint) bool { return true }
	}
	known := map[checkpoint.Issue]map[checkpoint.ID]bool{}
	return func(cp *gitstore.Checkpoint) bool {
		found, ok := known[cp.Issue]
		if !ok {
			var err error
			if found, err = s.Changed(ctx, cp.Issue, q); err != nil {
				failed(err)
			}
			known[cp.Issue] = found
		}
		return found[cp.ID]
	}
}

// HasText reports whether the note, the request, the answer, the decisions or the summary of a
// checkpoint has a text, in any case.
func HasText(s *gitstore.Store, cp *gitstore.Checkpoint, text string) bool {
	text = strings.ToLower(text)
	if text == "" || strings.Contains(strings.ToLower(cp.Note), text) {
		return true
	}
	r, err := s.Record(cp)
	if err != nil {
		return false
	}
	turn := r.AgentTurn()
	texts := append([]string{turn.Request, turn.Answer, r.Doc().Text("context_summary")}, r.Decisions()...)
	return strings.Contains(strings.ToLower(strings.Join(texts, "\n")), text)
}
