package web

import (
	"fmt"
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
				e := r.TimelineEntry
				assert.Equal(t, string(l.Checkpoints[seen].ID), e.ID)
				assert.Equal(t, seen == 0, e.Tip)
				assert.Equal(t, seen > 48, e.Stale)
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

func TestStamp(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Stamp{"2026-03-01T09:00:00Z", "1 Mar 2026, 09:00:00 UTC", "3h", "3 hours ago"}, stamp(now.Add(-3*time.Hour), now))
	assert.Equal(t, Stamp{Exact: "at an unknown time"}, stamp(time.Time{}, now))
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

func TestPatchLines(t *testing.T) {
	t.Parallel()
	patch := "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -3,4 +3,4 @@ func x\n same\n-old word here\n+new word here\n--- a minus\n+++ a plus\n\\ No newline at end of file\n@@ -90 +90,0 @@\n-gone\n"
	lines, cut := patchLines(patch, 100)
	assert.False(t, cut)
	assert.Equal(t, []DiffLine{
		{"same", 3, 3, "same"},
		{"del", 4, 0, "old word here"},
		{"add", 0, 4, "new word here"},
		{"del", 5, 0, "-- a minus"},
		{"add", 0, 5, "++ a plus"},
		{"note", 0, 0, " No newline at end of file"},
		{Kind: "gap"},
		{"del", 90, 0, "gone"},
	}, lines)
	lines, cut = patchLines(patch, 2)
	assert.True(t, cut)
	assert.Len(t, lines, 2)
}

// Files and patches are matched only by order.
func TestFileDiffsMatchPatchesByOrder(t *testing.T) {
	t.Parallel()
	files := []gitstore.FileChange{
		{Path: "bin", Status: "modified", OldMode: 0o100644, NewMode: 0o100644},
		{Path: "conflict", Status: "conflicted"},
		{Path: "link", Status: "typechange", OldMode: 0o100644, NewMode: 0o120000, Added: 1, Deleted: 1, Counted: true},
		{Path: "new", From: "old", Status: "renamed", OldMode: 0o100644, NewMode: 0o100755, Counted: true},
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
	assert.Len(t, got[2].Lines, 3)
	assert.Equal(t, []string{"It was a plain file and is a symbolic link."}, got[2].Notes)
	assert.Equal(t, "old", got[3].From)
	assert.Equal(t, []string{"It was a plain file and is executable."}, got[3].Notes)
	assert.Empty(t, got[3].Lines)

	got, _ = fileDiffs(files, []byte(patch)[:60], true, &budget{100, 100})
	assert.Empty(t, got[2].Lines, "what does not fit together is not shown")
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
		{Of: "workflow", Began: began, Took: "49h0m0s"},
		{Of: "t\u202e", Began: began, Took: "2h5m0s"},
		{Of: "AB-1 stage_0", Began: began, Took: "30m20s"},
		{Of: "AB-1 stage_1", Began: "14 Feb 2026, 10:00:00 UTC", Took: "it ends 30s before it begins", Wrong: true},
	}, timings(r.Doc()))
}

func FuzzPatchLines(f *testing.F) {
	f.Add("@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
	f.Add("@@ -x +y @@\n\\ z\n+\xff\xe2\x80\n-\xff\xe2\x81\n")
	f.Fuzz(func(t *testing.T, patch string) {
		lines, _ := patchLines(patch, 50)
		n := 0
		for _, l := range lines {
			if l.Kind != "gap" {
				n++
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
	assert.Equal(t, "/i/42?compare="+string(l.Checkpoints[2].ID)+"#c-"+l.Checkpoints[2].Commit.String(), first[2].TimelineEntry.Compare.URL)
	second := v.timeline(l, &search{Filter: Filter{Page: 1, Compare: string(l.Checkpoints[2].ID)}}).Groups[0].Rows
	assert.True(t, second[2].TimelineEntry.Chosen)
	assert.Equal(t, "/i/42/c/"+string(l.Checkpoints[0].ID)+"/diff?against="+string(l.Checkpoints[2].ID), second[0].TimelineEntry.Compare.URL)
	assert.Equal(t, "/i/42/c/"+string(l.Checkpoints[2].ID)+"/diff?against="+string(l.Checkpoints[3].ID), second[3].TimelineEntry.Compare.URL)
}
