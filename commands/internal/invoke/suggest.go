package invoke

import (
	"cmp"
	"strings"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
)

// Nearest returns the candidate that a mistyped word probably means, or "". A candidate
// that is a prefix of the word, or the reverse, comes first. Otherwise the edit distance
// is at most two, and at most a third of the word's length.
func Nearest(word string, candidates []string) string {
	if word == "" {
		return ""
	}
	best, least := "", 1+min(2, len(word)/3)
	for _, c := range candidates {
		if strings.HasPrefix(c, word) || strings.HasPrefix(word, c) {
			return c
		}
		if n := config.EditDistance(word, c); n < least {
			best, least = c, n
		}
	}
	return best
}

// UnknownVerb returns the error for an unknown or missing verb. The hint is the probable
// verb, or usual, a verb that changes nothing.
func UnknownVerb(cmd, word, usual string, verbs []string) error {
	hint := "git checkpoint " + cmd + " " + cmp.Or(Nearest(word, verbs), usual)
	if word == "" {
		return exit.Errorf(exit.Usage, hint, "%s: which of %s?", cmd, phrase.List(verbs))
	}
	return exit.Errorf(exit.Usage, hint, "%s: %q is none of %s", cmd, word, phrase.List(verbs))
}
