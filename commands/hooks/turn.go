package hooks

import (
	"cmp"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/transcript"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
)

// noteWidth limits the columns of the note of a turn.
const noteWidth = 200

// turnOf returns the texts of the turn that ends or is interrupted: those of the hook's input,
// otherwise those of the transcript that it names. With hooks.requests off there are none.
func turnOf(c *invoke.Invocation, in sessionInput, agent string) *invoke.Turn {
	t := &invoke.Turn{Agent: agent}
	if !c.Settings.Bool("hooks.requests") {
		return t
	}
	request, answer := in.Prompt, in.Answer
	if request == "" && sessions.IsPath(in.Transcript) {
		last := transcript.Last(in.Transcript)
		request, answer = last.Request, cmp.Or(answer, last.Answer)
	}
	t.Request, t.Answer = work.ShortRequest(c, request), work.ShortAnswer(c, answer)
	return t
}

// noteOf returns the first line of a request, as the note of its turn.
func noteOf(t *invoke.Turn) string {
	return view.Truncate(view.Clean(view.FirstLine(t.Request)), noteWidth)
}
