package work

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// keptTexts are the texts of a record that later saves keep, by their key.
type keptTexts struct {
	turn    checkpoint.AgentTurn
	texts   map[string]string
	running []string // running tasks
}

// The keys of texts whose age a new session has to know.
const (
	resumeFromKey = "resume_from"
	summaryKey    = "context_summary"
	progressKey   = "progress" // the point that the progress names
)

func textsBefore(r *checkpoint.Record) keptTexts {
	k := keptTexts{turn: r.AgentTurn(), texts: map[string]string{summaryKey: r.Doc().Text(summaryKey), progressKey: progress.DefaultCode(r)}}
	if point := r.ResumeFrom(); point != k.texts[progressKey] {
		k.texts[resumeFromKey] = point
	}
	for _, t := range tasks.Of(r).All() {
		if t.Status == tasks.Running {
			k.running = append(k.running, t.ID)
		}
	}
	return k
}

// applyTurn counts the turn of an agent and records its texts and tokens, and the turn in which each
// kept text was written. The request of an ended turn stays until the next request.
func (e *edit) applyTurn(r *checkpoint.Record, before keptTexts) {
	t, now := before.turn, textsBefore(r)
	written, started := t.Written, t.Started
	t.Written, t.Started = map[string]int{}, map[string]int{}
	for key, text := range now.texts {
		given := key == resumeFromKey && e.ResumeFrom != "" || key == summaryKey && e.Summary != ""
		switch {
		case text == "":
		case given || text != before.texts[key]:
			t.Written[key] = t.Open()
		case written[key] > 0:
			t.Written[key] = written[key]
		}
	}
	for _, id := range now.running {
		t.Started[id] = t.Open()
		if slices.Contains(before.running, id) {
			t.Started[id] = started[id]
		}
	}
	if t.Number == 0 { // of the first turn, like all texts without a number
		t.Written, t.Started = nil, nil
	}
	t = e.said(t)
	if e.trigger == checkpoint.Turn {
		t = spent(t, cmp.Or(e.turn, &invoke.Turn{}), r.Phase())
	}
	r.SetAgentTurn(t)
}

// spent returns the section with the tokens of a turn that ends in a phase. An agent can end a turn
// several times, for example if another hook makes it continue. The sums then get only the tokens
// since the last end.
func spent(t checkpoint.AgentTurn, turn *invoke.Turn, phase string) checkpoint.AgentTurn {
	counted := turn.Counted
	if turn.UsageOf != "" && turn.UsageOf == t.UsageOf {
		counted = t.Usage
	}
	t.Usage, t.UsageOf = turn.Usage, turn.UsageOf
	for _, s := range turn.Usage {
		s.Tokens = s.Minus(checkpoint.SpentOf(counted, s))
		s.Agent, s.Phase = turn.Agent, phase
		t.Spent = checkpoint.AddSpent(t.Spent, s)
	}
	return t
}

// said returns the section with the texts of the hook that saves. If the hook has no request, the
// last known request stays.
func (e *edit) said(t checkpoint.AgentTurn) checkpoint.AgentTurn {
	t.Agent, t.Hand, t.Commits = "", e.turn != nil && e.turn.Hand, nil
	if e.noTexts {
		t.Request, t.Answer, t.Asked = "", "", 0
	}
	if e.turn == nil {
		return t
	}
	if t.Hand {
		t.Agent = e.turn.Agent
		return t
	}
	t.Agent, t.Commits = e.turn.Agent, e.turn.Commits
	if e.trigger == checkpoint.Turn {
		if t.Number++; t.Number < 1 || t.Number > math.MaxInt32 { // a forged record
			t.Number = 1
		}
	}
	request, answer := e.turn.Request, e.turn.Answer
	switch {
	case e.trigger == checkpoint.Turn && request != "":
		t.Request, t.Answer, t.Asked = request, answer, t.Number
	case e.trigger == checkpoint.Turn && answer != "":
		t.Answer = answer
	case request != "" && request != t.Request:
		t.Request, t.Answer, t.Asked = request, answer, t.Open()
	}
	return t
}

// Limits of the texts of an agent's turn. Secrets are masked in the longer text, because a cut
// secret would not be recognized.
const (
	requestRunes = 1500
	answerRunes  = 400
	scannedBytes = 64 << 10
)

// ShortRequest returns the start of a request, without secrets and with control characters
// written out.
func ShortRequest(c *invoke.Invocation, text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
	text = masked(c, "request", view.CleanBlock(view.CutBytes(text, scannedBytes)))
	if runes := []rune(text); len(runes) > requestRunes {
		text = strings.TrimSpace(string(runes[:requestRunes])) + " ..."
	}
	return text
}

// ShortAnswer returns the end of an answer, likewise.
func ShortAnswer(c *invoke.Invocation, text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
	from := max(len(text)-scannedBytes, 0)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	text = masked(c, "answer", view.CleanBlock(text[from:]))
	if runes := []rune(text); len(runes) > answerRunes {
		text = string(runes[len(runes)-answerRunes:])
		_, rest, found := strings.Cut(text, " ")
		if found && len(rest) > 0 {
			text = rest
		}
		text = "... " + strings.TrimSpace(text)
	}
	return text
}

// masked returns a text without secrets, whatever the setting redact says: nobody decides to
// publish what is typed to an agent.
func masked(c *invoke.Invocation, name, text string) string {
	return gitstore.MaskSecrets(name, text, c.Settings.Strings("scan_allow"))
}
