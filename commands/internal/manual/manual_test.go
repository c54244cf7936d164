package manual

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []block
	}{
		{"nothing", "\n\n", nil},
		{"headings", "## A\ntext\n### B\n", []block{{kind: section, text: "A"}, {kind: paragraph, text: "text"}, {kind: subsection, text: "B"}}},
		{"paragraphs", "one\n two\n\nthree", []block{{kind: paragraph, text: "one two"}, {kind: paragraph, text: "three"}}},
		{"bullets", "- a\nb\n- c: d\n\ne", []block{{kind: item, text: "a b"}, {kind: item, text: "c: d"}, {kind: paragraph, text: "e"}}},
		{"definition", "- `x`, `y z`: what\nit is\n", []block{{kind: item, term: "x, y z", text: "what it is"}}},
		{"no definition", "- `x` is here: `y`: z", []block{{kind: item, text: "`x` is here: `y`: z"}}},
		{"verbatim", "a:\n    $ x\n\n      y\n\nb", []block{{kind: paragraph, text: "a:"}, {kind: verbatim, text: "$ x\n\n  y\n"}, {kind: paragraph, text: "b"}}},
		{"verbatim, then text", "    x\ny", []block{{kind: verbatim, text: "x\n"}, {kind: paragraph, text: "y"}}},
	} {
		assert.Equal(t, c.want, parse(c.in), c.name)
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain":         "plain\n",
		"a -b `--c 'd`": "a \\-b \\fB\\-\\-c \\(aqd\\fR\n",
		`C:\x`:          "C:\\ex\n",
		".SH":           "\\&.SH\n",
		"'x":            "\\(aqx\n",
		"`~^\"`":        "\\fB\\(ti\\(ha\\(dq\\fR\n",
	} {
		assert.Equal(t, want, lines(in), in)
	}
	assert.Equal(t, "a|\\:b\n", lines("a|b"))
	assert.Equal(t, strings.Repeat("word ", 14)+"end.\\&\nAnother one.\n", lines(strings.Repeat("word ", 14)+"end. Another one."))
	long := lines(strings.Repeat("word ", 40) + strings.Repeat("x", 100) + " .end")
	require.Greater(t, strings.Count(long, "\n"), 3)
	assert.True(t, strings.HasSuffix(long, "\n\\&.end\n"))
}

// Text for copy and paste is not wrapped, even on narrow screens.
func TestItemCodeIsNotWrapped(t *testing.T) {
	page := Page{Name: "x", Section: 5, blocks: []block{{kind: item, term: "a", text: "what it is", code: "x.a-b\nX_A\n"}}}
	assert.Contains(t, string(page.Roff()), "\n.TP\n\\fBa\\fR\nwhat it is\n.nf\nx.a\\-b\nX_A\n.fi\n")
	assert.Contains(t, page.Text(), "\n  a\n      what it is\n      x.a-b\n      X_A\n")
}

func TestWrap(t *testing.T) {
	text := Wrap(strings.Repeat("word ", 30)+strings.Repeat("x", 100), "  - ", "    ")
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		assert.True(t, len(line) <= width || strings.TrimSpace(line) == strings.Repeat("x", 100), line)
		assert.Equal(t, i == 0, strings.HasPrefix(line, "  - word"), line)
	}
	assert.Equal(t, "  "+strings.Repeat("y", 90)+"\n", Wrap(strings.Repeat("y", 90), "  ", "  "))
}

// Guides use only the supported Markdown subset and ASCII, and are not empty.
func TestGuidesUseTheMarkdownSubset(t *testing.T) {
	names := []string{"main", "command", "settings"}
	for _, g := range guides() {
		names = append(names, g.Name)
		assert.Contains(t, []int{5, 7}, g.Section)
	}
	files, err := texts.ReadDir("guides")
	require.NoError(t, err)
	assert.Len(t, files, len(names), "a text that no page has")
	for _, name := range names {
		text := guideText(name)
		assert.True(t, strings.HasPrefix(text, "## "), name)
		for i, line := range strings.Split(text, "\n") {
			assert.Equal(t, 0, strings.Count(line, "\t"), "%s:%d", name, i+1)
			assert.Less(t, len(line), 100, "%s:%d", name, i+1)
			assert.Equal(t, -1, strings.IndexFunc(line, func(r rune) bool { return r > '~' }), "%s:%d", name, i+1)
		}
		for _, b := range parse(text) {
			assert.Equal(t, 0, strings.Count(b.text, "`")%2, "%s: %s", name, b.text)
		}
	}
}

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
