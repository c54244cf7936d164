package work

import (
	"strings"
	"unicode/utf8"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

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
