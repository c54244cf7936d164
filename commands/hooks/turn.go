package hooks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/transcript"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
)

// noteWidth limits the columns of the note of a turn.
const noteWidth = 200

// turnOf returns the texts of the turn that ends or is interrupted: those of the hook's input,
// otherwise those of the transcript that it names. With hooks.requests off it has no texts. The
// tokens of a turn that ends come from the transcript.
func turnOf(c *invoke.Invocation, in sessionInput, agent, trigger string) *invoke.Turn {
	t := &invoke.Turn{Agent: agent}
	texts, ends := c.Settings.Bool("hooks.requests"), trigger == hook.Turn
	var last transcript.Turn
	if sessions.IsPath(in.Transcript) && (ends || texts && in.Prompt == "") {
		last = transcript.Last(in.Transcript)
	}
	if ends && len(last.Usage) > 0 {
		place := sha256.Sum256(fmt.Appendf(nil, "%s %d", in.Transcript, last.Start))
		t.Usage, t.UsageOf = last.Usage, hex.EncodeToString(place[:8])
	}
	if !texts {
		return t
	}
	request, answer := in.Prompt, in.Answer
	if request == "" {
		request, answer = last.Request, cmp.Or(answer, last.Answer)
	}
	t.Request, t.Answer = work.ShortRequest(c, request), work.ShortAnswer(c, answer)
	return t
}

// noteOf returns the first line of a request, as the note of its turn.
func noteOf(t *invoke.Turn) string {
	return view.Truncate(view.Clean(view.FirstLine(t.Request)), noteWidth)
}
