package view

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

func entry(id, phase, note string) Entry {
	cp := &gitstore.Checkpoint{ID: checkpoint.ID(id), Phase: phase, Trigger: checkpoint.Manual, Created: noon.Add(-2 * time.Hour)}
	return Entry{Checkpoint: cp, Title: note, Change: &gitstore.Totals{Files: 3, Added: 12, Deleted: 4}, Resumable: true}
}

// An id too wide for the column gets separate lines without truncation, because users
// type it.
func TestTimelineShowsLongIDsInFull(t *testing.T) {
	entries := []Entry{entry("8a866466", "docs", "a"), entry("checkpoint-of-another-system-20250101", "docs", "b")}
	want := `docs
    r  2h  8a866466  3 files +12 -4
       a
    r  2h            3 files +12 -4
       checkpoint-of-another-system-2025
       0101
       b
`
	assert.Equal(t, want, Screen{Width: 40}.Timeline(entries, noon))
	assert.Contains(t, Screen{Width: 80}.Timeline(entries, noon), "2h  checkpoint-of-another-system-20250101  b  3 files +12 -4\n")
	assert.Empty(t, Screen{}.Timeline(nil, noon))
	assert.Equal(t, "\nr resumable\n", Screen{Width: 40}.Legend(entries[:1], nil, entries[1:]))
	assert.Empty(t, Screen{}.Legend(nil))
}

// FuzzTimeline checks that arbitrary record text produces clean lines within the width.
func FuzzTimeline(f *testing.F) {
	f.Add("CP-1", "docs", "note", "manual", 40)
	f.Add("\x1b[2J", "\u202e", "a\u200db\u0301\u0301\n\r\t", "日本語", 41)
	f.Add("x", "\ufeff\u00ad", "\xff\xfe", "👩‍💻👩‍💻", 72)
	f.Fuzz(func(t *testing.T, id, phase, note, trigger string, width int) {
		s := Screen{Width: 40 + abs(width)%161}
		e := entry(id, phase, note)
		e.Checkpoint.Trigger, e.Problem, e.By = checkpoint.Trigger(trigger), note, trigger
		entries := []Entry{e, entry("8a866466", phase, note)}
		checkLines(t, s, s.Timeline(entries, noon)+s.Legend(entries))
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// checkLines checks properties of every screen: width, valid UTF-8, clean text.
func checkLines(t *testing.T, s Screen, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		assert.LessOrEqual(t, Width(line), s.Width, "%q", line)
		assert.True(t, utf8.ValidString(line), "%q", line)
		assert.Equal(t, Clean(line), line)
	}
}

// A long title is cut, and its change is not.
func TestTimelineCutsTitlesAndKeepsChanges(t *testing.T) {
	entries := []Entry{entry("8a866466", "", strings.Repeat("long ", 30)), entry("8a866467", "", "short")}
	want := `(no phase)
    r  2h  8a866466  long long long long long long long long ...  3 files +12 -4
    r  2h  8a866467  short                                        3 files +12 -4
`
	assert.Equal(t, want, Screen{Width: 80}.Timeline(entries, noon))
}

func TestMarks(t *testing.T) {
	cp := &gitstore.Checkpoint{}
	for want, e := range map[string]Entry{
		"   ": {Checkpoint: cp}, "*pr": {Checkpoint: &gitstore.Checkpoint{Pinned: true}, Tip: true, Resumable: true},
		"a s": {Checkpoint: &gitstore.Checkpoint{Archived: true}, Tip: true, Resumable: true, Stale: true},
		"  !": {Checkpoint: cp, Problem: "x", Resumable: true, Stale: true},
	} {
		assert.Equal(t, want, e.marks(), fmt.Sprintf("%+v", e))
	}
}

func TestSheet(t *testing.T) {
	rows := []Row{
		{Label: "Branch", Text: "main"},
		{Label: "  warning", Text: "one two three four five six seven\x1b[m", Style: Yellow, Below: []string{"a detail that is long too"}, Hint: "git a-command-that-is-longer-than-the-line"},
		{Label: "Empty"},
	}
	want := `Branch     main
  warning  one two three four
           five six
           seven\x1b[m
             a detail that is
             long too
           hint: git a-command-that-is-longer-than-the-line
Empty
`
	assert.Equal(t, want, Screen{Width: 30}.Sheet(rows))
	assert.Contains(t, Screen{Width: 30, Color: true}.Sheet(rows), "\x1b[33mfive six\x1b[m\n")
	assert.Equal(t, "a b\nc", Screen{Width: 3}.Heading("a b c"))
}
