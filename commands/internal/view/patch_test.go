package view

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var changes = []diff.FieldChange{
	{Path: "workflow_state.current_phase", Name: "workflow_state.current_phase", Op: diff.Changed, Old: "planning", New: "implementing"},
	{Path: "progress.total", Name: "progress.total", Op: diff.Added, New: checkpoint.Int(5)},
	{Path: "progress.completed[2]", Name: "progress.completed[2]", Op: diff.Added, New: "3"},
	{Path: "files_modified[0]", Name: "files_modified[src/\x1b[31mred\u202e.go]", Op: diff.Moved, Old: checkpoint.Int(3), New: checkpoint.Int(0)},
	{Path: "issue_snapshot.body", Name: "issue_snapshot.body", Op: diff.Changed, Old: "one\ntwo\n", New: "one\n2\x1b[2J\n"},
	{Path: "session_id", Name: "session_id", Op: diff.Removed, Old: strings.Repeat("日本", 20)},
	{Path: "team_state", Name: "team_state", Op: diff.Changed, Old: []any{"x"}, New: " a "},
}

func TestRecordShowsEachKindOfChange(t *testing.T) {
	want := `  changed  workflow_state.current_phase: planning -> implementing
  added    progress.total: 5
  added    progress.completed[2]: "3"
  moved    files_modified[src/\x1b[31mred\u202e.go]: from place 4 to 1
  changed  issue_snapshot.body:
    @@ -1,2 +1,2 @@
     one
    -two
    +2\x1b[2J
  removed  session_id: ` + strings.Repeat("日本", 20) + `
  changed  team_state: ["x"] -> " a "
`
	assert.Equal(t, want, Screen{}.Record(changes))
	assert.Equal(t, "3 changed, 2 added, 1 removed, 1 moved", Summary(changes))
	assert.Equal(t, "nothing", Summary(nil))
}

// A hunk header gives an empty side the same line number as git.
func TestRecordShowsAddedAndRemovedText(t *testing.T) {
	came := diff.FieldChange{Path: "a", Name: "a", Op: diff.Added, New: "one\ntwo"}
	went := diff.FieldChange{Path: "b", Name: "b", Op: diff.Removed, Old: "one\ntwo"}
	assert.Equal(t, `  added    a:
    @@ -0,0 +1,2 @@
    +one
    +two
  removed  b:
    @@ -1,2 +0,0 @@
    -one
    -two
`, Screen{}.Record([]diff.FieldChange{came, went}))
}

// The end of a text counts only if it is the difference, and a hunk names its numbers of lines.
func TestUnified(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"a\nb", "a\nB", "@@ -1,2 +1,2 @@| a|-b|+B"},
		{"a\n", "a", "@@ -1,2 +1,1 @@| a|-"},
		{"a\n", "b\n", "@@ -1,1 +1,1 @@|-a|+b"},
		{"x\n2\n3\n4\n5\n6\n7\n8\n9\nx", "1\n2\n3\n4\n5\n6\n7\n8\n9\n0", "@@ -1,4 +1,4 @@|-x|+1| 2| 3| 4|@@ -7,4 +7,4 @@| 7| 8| 9|-x|+0"},
	} {
		assert.Equal(t, c.want, strings.Join(unified(c.from, c.to), "|"))
	}
}

func TestRecordFitsNarrowScreens(t *testing.T) {
	want := `  changed  workflow_state.current_phase:
    - planning
    + implementing
  added    progress.total: 5
  added    progress.completed[2]: "3"
  moved    ...src/\x1b[31mred\u202e.go]:
    from place 4 to 1
  changed  issue_snapshot.body:
    @@ -1,2 +1,2 @@
     one
    -two
    +2\x1b[2J
  removed  session_id:
    - 日本日本日本日本日本日本日本日...
  changed  team_state: ["x"] -> " a "
`
	got := Screen{Width: 40}.Record(changes)
	assert.Equal(t, want, got)
	for _, width := range []int{1, 40, 80, 200} {
		for line := range strings.Lines(Screen{Width: width}.Record(changes)) {
			assert.LessOrEqual(t, Width(strings.TrimSuffix(line, "\n")), max(width, 19), "%d: %q", width, line)
		}
	}
}

func TestPatchEscapesAndColoursLines(t *testing.T) {
	in := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ func\n-old\x1b[31m\n+new\r\n \n\\ No newline\ndiff --git a/y b/y\nBinary"
	var b strings.Builder
	p := Screen{Color: true}.Patch(&b)
	for _, c := range []byte(in) {
		_, err := p.Write([]byte{c})
		require.NoError(t, err)
	}
	require.NoError(t, p.Close())
	bold := func(s string) string { return "\x1b[1m" + s + "\x1b[m" }
	assert.Equal(t, bold("diff --git a/x b/x")+"\n"+bold("--- a/x")+"\n"+bold("+++ b/x")+"\n\x1b[36m@@ -1 +1 @@\x1b[m func\n"+
		"\x1b[31m-old\\x1b[31m\x1b[m\n\x1b[32m+new\\x0d\x1b[m\n \n\\ No newline\n"+bold("diff --git a/y b/y")+"\n"+bold("Binary"), b.String())
}

func TestWrapBreaksAtSpaces(t *testing.T) {
	assert.Equal(t, []string{"one two", "three"}, wrap("one two three", 8))
	assert.Equal(t, []string{"日本", "日本", "日 a"}, wrap("日本日本日 a", 4))
	assert.Equal(t, []string{"日本"}, wrap("日本", 1))
	assert.Equal(t, []string{"as it is"}, wrap("as it is", 0))
}
