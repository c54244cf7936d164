package web

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// now is the fixed time of tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// chainOf returns a chain of n checkpoints, newest first, ten per phase.
func chainOf(n int) *gitstore.List {
	l := &gitstore.List{Issue: "42", Complete: true}
	for i := range n {
		l.Checkpoints = append(l.Checkpoints, gitstore.Checkpoint{
			ID: checkpoint.ID(fmt.Sprintf("CP-p-20260214T143000Z-%08x", i)), Issue: "42", Trigger: checkpoint.Manual,
			Phase: fmt.Sprintf("phase %d", i/10), Resumable: i%2 == 0, Pinned: i%7 == 0, Note: fmt.Sprintf("note %d", i),
			Created: now.Add(-time.Duration(i) * time.Hour), Commit: plumbing.NewHash(fmt.Sprintf("%040x", i+1)),
		})
	}
	return l
}

func TestTimelineIsSplitIntoPages(t *testing.T) {
	t.Parallel()
	v := pager{base: "/i/42", size: 25, entries: view.Entries{Now: now.Add(7*24*time.Hour - 48*time.Hour)}}
	l := chainOf(60)
	seen := 0
	for page := 1; page <= 3; page++ {
		tl := v.timeline(l, &search{Filter: Filter{Page: page}})
		for _, g := range tl.Groups {
			for _, r := range g.Rows {
				e := r.Entry
				assert.Equal(t, string(l.Checkpoints[seen].ID), e.ID)
				assert.Equal(t, seen == 0, e.Tip)
				assert.Equal(t, seen > 48, e.Old)
				assert.Equal(t, g.Phase, e.Phase)
				seen++
			}
		}
		assert.Equal(t, page > 1, tl.Newer != "")
		assert.Equal(t, page < 3, tl.Older != "")
	}
	assert.Equal(t, 60, seen)
	assert.Equal(t, "26–50 of 60 checkpoints", v.timeline(l, &search{Filter: Filter{Page: 2}}).Shown)
	assert.Equal(t, "/i/42", v.timeline(l, &search{Filter: Filter{Page: 2}}).Newer)
	assert.Equal(t, "/i/42?page=3", v.timeline(l, &search{Filter: Filter{Page: 2}}).Older)
	assert.Equal(t, "none", v.timeline(l, &search{Filter: Filter{Page: 4}}).Shown)

	l.Complete = false
	assert.Equal(t, "the newest 60", pager{size: 100, entries: view.Entries{Now: now}}.timeline(l, &search{Filter: Filter{Page: 1}}).Shown)
}

func TestTimelineFilter(t *testing.T) {
	t.Parallel()
	l := chainOf(60)
	l.Checkpoints[3].Problem = "broken"
	l.Checkpoints[3].Phase = "a\u202eb"
	for query, want := range map[string]int{
		"":                               60,
		"q=NOTE+1":                       11,
		"phase=phase+2":                  10,
		"phase=a%E2%80%AEb":              1,
		"only=pinned":                    9,
		"only=pinned&only=x":             9,
		"only=resumable":                 30,
		"only=invalid":                   1,
		"only=nonsense":                  60,
		"trigger=interval":               0,
		"trigger=manual&q=0000000a":      1,
		"page=-1":                        60,
		"page=99999999999999999999":      60,
		"q=" + strings.Repeat("x", 9999): 0,
	} {
		q, err := url.ParseQuery(query)
		require.NoError(t, err)
		assert.Equal(t, want, pager{size: 100, entries: view.Entries{Now: now}}.timeline(l, &search{Filter: parseFilter(q)}).Found, query)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{time.Second: "now", 3 * time.Hour: "3 h ago", -3 * time.Hour: "in 3 h"} {
		assert.Equal(t, want, stamp(now.Add(-d), now).Ago())
	}
	assert.Empty(t, stamp(time.Time{}, now).Ago())
	for d, want := range map[time.Duration]string{
		0: "now", 4 * time.Second: "now", 59 * time.Second: "59 s", -30 * time.Second: "now", time.Minute: "1 min", 119 * time.Minute: "1 h",
		47 * time.Hour: "1 d", 99 * 24 * time.Hour: "99 d", 400 * 24 * time.Hour: "1 y 1 mo", 250 * 24 * time.Hour: "8 mo", -3 * time.Hour: "in 3 h",
		math.MinInt64: "in 292 y 5 mo", math.MaxInt64: "292 y 5 mo",
	} {
		assert.Equal(t, want, age(d), d)
	}
	assert.Equal(t, "1,234,567", thousands(1234567))
	assert.Equal(t, "123", thousands(123))
	assert.Equal(t, "1 file", count(1, "file"))
	assert.Equal(t, "700.0 MiB", size(700<<20))
	assert.Equal(t, "é", cut("éé", 3))
	assert.Empty(t, stamp(time.Time{}, now).Machine)
}

// URLs decode to the original names, even for unusual names.
func TestURLsDecodeToNames(t *testing.T) {
	t.Parallel()
	commit := plumbing.NewHash("0123456789abcdef0123456789abcdef01234567")
	for id, want := range map[string]string{
		"CP-ready-20260214T143000Z-1f0c9a2b": "CP-ready-20260214T143000Z-1f0c9a2b",
		"test-all_x_20260101_120000":         "test-all_x_20260101_120000",
		"":                                   commit.String(), "..": commit.String(), "a/b": commit.String(), "a?b": commit.String(), "é": commit.String(),
	} {
		assert.Equal(t, want, nameOf(&gitstore.Checkpoint{ID: checkpoint.ID(id), Commit: commit}), id)
	}
	for _, issue := range []checkpoint.Issue{"42", "..", "a/b", "a b?c#d", "%2F", "é"} {
		segment := strings.TrimPrefix(links{}.issue(issue), "/i/")
		assert.NotContains(t, segment, "/", issue)
		assert.NotContains(t, []string{".", ".."}, segment)
		ref, err := url.PathUnescape(segment)
		require.NoError(t, err)
		back, err := checkpoint.IssueFromRef(ref)
		require.NoError(t, err)
		assert.Equal(t, issue, back)
	}
}

func TestShowRecord(t *testing.T) {
	t.Parallel()
	r, err := checkpoint.Decode([]byte(`{"checkpoint_id": "x", "n": 1.50, "none": null, "empty": [], "words": ["a", 2, true],
		"table": [{"a": 1, "b": "x"}, {"a": 2, "c": null}], "mixed": [{"a": 1}, "x"], "deep": {"a": {"b": ["long` + strings.Repeat(" text", 40) + `"]}},
		"block": "one\ntwo", "evil\u202e": "\u001b[0m"}`))
	require.NoError(t, err)
	got := showRecord(r.Doc())
	kinds := map[string]string{}
	for _, row := range got.Plain {
		kinds[row.Key] = row.Value.Kind + " " + row.Value.Text
	}
	assert.Equal(t, map[string]string{
		"checkpoint_id": "text x", "n": "word 1.50", "none": "word null", "empty": "empty ", `evil\u202e`: `text \x1b[0m`,
	}, kinds)
	kinds = map[string]string{}
	for _, s := range got.Sections {
		kinds[s.Key] = s.Value.Kind
	}
	assert.Equal(t, map[string]string{"words": "words", "table": "table", "mixed": "list", "deep": "map", "block": "block"}, kinds)
	for _, s := range got.Sections {
		if s.Key == "table" {
			assert.Equal(t, []string{"a", "b", "c"}, s.Value.Cols)
			assert.Equal(t, "x", s.Value.Cells[0][1].Text)
			assert.Empty(t, s.Value.Cells[0][2].Kind, "it is not there")
		}
	}
	assert.False(t, got.Cut)
}

// Shown values are limited even for large records.
func TestShowRecordLimitsValues(t *testing.T) {
	t.Parallel()
	doc := checkpoint.NewMap()
	for i := range 100 {
		var list []any
		for range 300 {
			list = append(list, strings.Repeat("x", 50))
		}
		doc.Set(fmt.Sprint("key", i), list)
	}
	doc.Set("text", strings.Repeat("é", maxText))
	got := showRecord(doc)
	assert.True(t, got.Cut)
	assert.Equal(t, 300-maxElems, got.Sections[0].Value.More)
	shown := 0
	for _, s := range got.Sections {
		shown += len(s.Value.Items)
	}
	assert.LessOrEqual(t, shown, maxValues)
}

func TestParsePatch(t *testing.T) {
	t.Parallel()
	patch := "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -3,4 +3,4 @@ func x\n same\n-old word here\n+new word here\n--- a minus\n+++ a plus\n\\ No newline at end of file\n@@ -90 +90,0 @@\n-gone\n"
	parsed := parsePatch(patch, 100)
	require.Len(t, parsed.hunks, 2)
	assert.False(t, parsed.cut)
	var got []string
	for _, h := range parsed.hunks {
		for _, l := range h.Lines {
			text := ""
			for _, p := range l.Parts {
				if p.Strong {
					p.Text = "[" + p.Text + "]"
				}
				text += p.Text
			}
			got = append(got, fmt.Sprintf("%s %d %d %s", l.Kind, l.Old, l.New, text))
		}
	}
	assert.Equal(t, []string{
		"same 3 3 same", "del 4 0 [old] word here", "add 0 4 [new] word here", "del 5 0 -- a minus", "add 0 5 ++ a plus",
		"note 0 0 No newline at end of file", "del 90 0 gone",
	}, got)
	assert.Equal(t, [2]int{2, 3}, [2]int{parsed.added, parsed.deleted})
	parsed = parsePatch(patch, 2)
	assert.True(t, parsed.cut)
	assert.Equal(t, [2]int{2, 3}, [2]int{parsed.added, parsed.deleted}, "also of lines that are not shown")
	require.Len(t, parsed.hunks, 1)
	assert.Len(t, parsed.hunks[0].Lines, 2)
}

// Files and patches are matched only by order.
func TestFileDiffsMatchPatchesByOrder(t *testing.T) {
	t.Parallel()
	files := []gitstore.FileChange{
		{Path: "bin", Status: "modified", OldMode: 0o100644, NewMode: 0o100644},
		{Path: "conflict", Status: "conflicted"},
		{Path: "link", Status: "typechange", OldMode: 0o100644, NewMode: 0o120000},
		{Path: "new", From: "old", Status: "renamed", OldMode: 0o100644, NewMode: 0o100755},
	}
	patch := "diff --git a/bin b/bin\nindex 1..2\nBinary files a/bin and b/bin differ\n" +
		"diff --git a/link b/link\ndeleted file mode 100644\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-diff --git a/x b/x\n" +
		"diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+to\n\\ No newline at end of file\n" +
		"diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n"
	got, left := fileDiffs(files, []byte(patch), true, &budget{100, 100})
	require.Len(t, got, 4)
	assert.Zero(t, left)
	assert.Equal(t, []string{"A binary file."}, got[0].Notes)
	assert.Equal(t, []string{"In conflict at the save."}, got[1].Notes)
	assert.Equal(t, [2]int{1, 1}, [2]int{got[2].Added, got[2].Deleted})
	assert.Equal(t, []string{"It was a plain file and is a symbolic link."}, got[2].Notes)
	assert.Equal(t, "old", got[3].Was)
	assert.Equal(t, []string{"It was a plain file and is executable."}, got[3].Notes)
	assert.Empty(t, got[3].Hunks)

	got, _ = fileDiffs(files, []byte(patch)[:60], true, &budget{100, 100})
	assert.Empty(t, got[0].Notes, "what does not fit together is not shown")
	got, _ = fileDiffs(files, []byte(patch), true, &budget{1, 1})
	assert.NotEmpty(t, got[2].More)
	got, _ = fileDiffs(files, []byte(patch)[:100], false, &budget{100, 100})
	assert.NotEmpty(t, got[3].More)
}

func TestTimings(t *testing.T) {
	t.Parallel()
	stages := `"stage_timestamps": {"AB-1": {"stage_0_start": "2026-02-14T09:00:00Z", "stage_0_end": "2026-02-14T09:30:20Z",
		"stage_1_start": "2026-02-14T10:00:00Z", "stage_1_end": "2026-02-14T09:59:30Z", "stage_2_start": "2026-02-14T10:00:00Z"}}`
	r, err := checkpoint.Decode([]byte(`{"checkpoint_id": "x", "created_at": "2026-02-16T10:00:00Z", "workflow": {"started_at": "2026-02-14T09:00:00Z"},
		"execution_graph": {"node_states": {"t\u202e": {"started_at": "2026-02-14T09:00:00Z", "completed_at": "2026-02-14T11:05:00Z"},
		"t2": {"started_at": "soon", "completed_at": "2026-02-14T11:05:00Z"}}}, "pipeline": {` + stages + `}, "layout": {"document": {` + stages + `}}}`))
	require.NoError(t, err)
	began := "14 Feb 2026, 09:00:00 UTC"
	assert.Equal(t, []Timing{
		{Of: "workflow", Began: began, Took: "2 d 1 h"},
		{Of: `t\u202e`, Began: began, Took: "2 h 5 min"},
		{Of: "AB-1 stage_0", Began: began, Took: "30 min 20 s"},
		{Of: "AB-1 stage_1", Began: "14 Feb 2026, 10:00:00 UTC", Took: "it ends 30 s before it begins", Wrong: true},
	}, timings(r.Doc()))
}

func FuzzParsePatch(f *testing.F) {
	f.Add("@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
	f.Add("@@ -x +y @@\n\\ z\n+\xff\xe2\x80\n-\xff\xe2\x81\n")
	f.Fuzz(func(t *testing.T, patch string) {
		hunks := parsePatch(patch, 50).hunks
		n := 0
		for _, h := range hunks {
			n += len(h.Lines)
			for _, l := range h.Lines {
				text := ""
				for _, p := range l.Parts {
					text += p.Text
				}
				require.Equal(t, block(text), text, "clean, and put together as it was")
			}
		}
		require.LessOrEqual(t, n, 50)
		fileDiffs(nil, []byte(patch), true, &budget{50, 50})
	})
}

// The first click selects a checkpoint, the second compares the older with the newer one.
func TestTimelineComparesByTwoClicks(t *testing.T) {
	t.Parallel()
	l := chainOf(4)
	v := pager{base: "/i/42", size: 100, entries: view.Entries{Now: now}}
	first := v.timeline(l, &search{Filter: Filter{Page: 1}}).Groups[0].Rows
	assert.Equal(t, "/i/42?compare="+string(l.Checkpoints[2].ID)+"#c-"+l.Checkpoints[2].Commit.String(), first[2].Entry.Compare.URL)
	second := v.timeline(l, &search{Filter: Filter{Page: 1, Compare: string(l.Checkpoints[2].ID)}}).Groups[0].Rows
	assert.True(t, second[2].Entry.Chosen)
	assert.Equal(t, "/i/42/c/"+string(l.Checkpoints[0].ID)+"/diff?against="+string(l.Checkpoints[2].ID), second[0].Entry.Compare.URL)
	assert.Equal(t, "/i/42/c/"+string(l.Checkpoints[2].ID)+"/diff?against="+string(l.Checkpoints[3].ID), second[3].Entry.Compare.URL)
}
