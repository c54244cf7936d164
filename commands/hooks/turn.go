package hooks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/transcript"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore/checkpoint"
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
	switch {
	case len(in.Messages) > 0:
		last = transcript.LastOf(in.Messages)
	case sessions.IsPath(in.Transcript) && (ends || texts && in.Prompt == ""):
		last = transcript.Last(in.Transcript)
		a := hook.AgentNamed(agent)
		for start := time.Now(); a != nil && a.WritesLate && last.Answer == "" && time.Since(start) < writeTime; {
			time.Sleep(writeTime / 20)
			last = transcript.Last(in.Transcript)
		}
	}
	if ends && len(last.Usage) > 0 {
		place := sha256.Sum256(fmt.Appendf(nil, "%s%s %d", in.Transcript, in.Turn, last.Start))
		t.Usage, t.UsageOf = last.Usage, hex.EncodeToString(place[:8])
	}
	if !texts {
		return t
	}
	request, answer := transcript.WithoutContext(in.Prompt), in.Answer
	if request == "" {
		request, answer = last.Request, cmp.Or(answer, last.Answer)
	}
	t.Request, t.Answer = work.ShortRequest(c, request), work.ShortAnswer(c, answer)
	return t
}

// writeTime limits the wait for the end of a turn in a transcript.
const writeTime = 500 * time.Millisecond

// countedBefore returns the tokens of a turn at its last end. An agent can end a turn several times,
// also around turns of other sessions.
func countedBefore(c *invoke.Invocation, issue checkpoint.Issue, session, usageOf string) []checkpoint.Spent {
	if usageOf == "" {
		return nil
	}
	l, err := c.Store.List(c.Ctx, issue, 20)
	if err != nil {
		return nil
	}
	for i := range l.Checkpoints {
		r, err := c.Store.Record(&l.Checkpoints[i])
		if err != nil {
			return nil
		}
		if t := r.AgentTurn(); t.UsageOf == usageOf {
			return t.Usage
		} else if r.Session() == session && !t.Hand { // its turn before
			return nil
		}
	}
	return nil
}
