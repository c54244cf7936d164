package manual

import (
	"slices"
	"strings"
	"testing"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// words is the section of the guide model with the words that have no section.
const words = "Other words"

// glossary returns the definitions of words in the guide model by section and term.
func glossary(t *testing.T) map[string]map[string]string {
	t.Helper()
	sections, current := map[string]map[string]string{}, ""
	for _, b := range parse(guideText("model")) {
		switch {
		case b.kind == section:
			current = b.text
			sections[current] = map[string]string{}
		case b.kind == item:
			if b.term == "" {
				continue // an item of a list
			}
			assert.NotContains(t, sections[current], b.term)
			sections[current][b.term] = b.text
		}
	}
	return sections
}

func TestGlossaryDefinesTermsInOneSentence(t *testing.T) {
	for name, section := range glossary(t) {
		if !slices.Contains([]string{words, "Triggers", "Verdicts", "States"}, name) {
			continue
		}
		require.NotEmpty(t, section, name)
		for term, text := range section {
			assert.True(t, strings.HasSuffix(text, "."), "%s: %s", term, text)
			assert.NotContains(t, text, ". ", term)
			assert.LessOrEqual(t, len(strings.Fields(text)), 25, term)
		}
	}
	var terms []string
	current := ""
	for _, b := range parse(guideText("model")) {
		if b.kind == section {
			current = b.text
		}
		if b.kind == item && current == words {
			terms = append(terms, b.term)
		}
	}
	assert.True(t, slices.IsSorted(terms), terms)
}

func TestGlossaryHasTriggersVerdictsAndSystems(t *testing.T) {
	sections := glossary(t)
	for _, trigger := range checkpoint.Triggers() {
		assert.Contains(t, sections["Triggers"], string(trigger))
	}
	for action := freshness.Resume; action <= freshness.StartFresh; action++ {
		assert.Contains(t, sections["Verdicts"], action.String())
	}
	for _, name := range layout.Names() {
		assert.Contains(t, sections[words]["system"], string(name))
	}
	assert.Len(t, sections["Triggers"], len(checkpoint.Triggers()))
}

// secondWords maps words for which the glossary or git has another word to that word.
var secondWords = map[string]string{
	"staging area": "index", "working tree": "worktree", "working copy": "worktree", "folder": "directory",
	"resumption point": "resume point", "restart point": "resume point", "mend": "fix", "anew": "again",
	"take back": "revert", "takes back": "reverts", "took back": "reverted", "bring back": "restore", "brings back": "restores",
	"by other means": "outside git-checkpoint", "as far as": "if", "but for": "except",
}

func TestGuidesUseOneWordForOneThing(t *testing.T) {
	files, err := texts.ReadDir("guides")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text := " " + strings.Join(strings.FieldsFunc(strings.ToLower(guideText(strings.TrimSuffix(file.Name(), ".md"))), func(r rune) bool {
			return r == ' ' || r == '\n' || strings.ContainsRune(".,:;()`", r)
		}), " ") + " "
		for second, first := range secondWords {
			assert.NotContains(t, text, " "+second+" ", "%s: write %q", file.Name(), first)
		}
	}
}
