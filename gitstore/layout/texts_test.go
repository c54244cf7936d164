package layout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/layout/recovery"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func textsFor(t *testing.T, as codec.Name, name string, change func(r *checkpoint.Record)) codec.Texts {
	t.Helper()
	r := layouttest.Read(t, name).Apply(nil)
	r.SetCreatedAt(layouttest.MustTime(t, "2026-01-02T03:04:05Z"))
	if change != nil {
		change(r)
	}
	got, err := layout.Find(as).ResumeTexts(layouttest.Stored(t, r))
	require.NoError(t, err)
	return got
}

// Texts have the values of the record, each on one line. TestTextsGolden has the texts of each system.
func TestTexts(t *testing.T) {
	assert.Contains(t, textsFor(t, recovery.Name, "recovery.json", func(r *checkpoint.Record) {
		r.SetProgress(checkpoint.Progress{Current: "1", Completed: []string{"1"}, Total: 3})
	}).Resumed, "Resuming from Phase 2\n", "the first that is not completed")
	spawn := "team: pipeline-2026-01-02\nmodel: opus\nsubagent_type: general-purpose\n"
	assert.Contains(t, textsFor(t, pipeline.Name, "pipeline-story.json", func(r *checkpoint.Record) {
		_ = r.Doc().Assign(`tasks."AB-12".status`, "complete")
	}).Resumed, "Tasks already completed: AB-11, AB-12\nTasks remaining: AB-13\n")
	hostile := textsFor(t, pipeline.Name, "pipeline-story.json", func(r *checkpoint.Record) {
		r.Doc().Set("tasks", values.NewMap())
		_ = r.Doc().Assign("stage.agent", nil)
		_ = r.Doc().Assign("stage.last_action", "one\r\ntwo\x1b[2J")
	})
	assert.Equal(t, "fallback: story-AB-1-s2-retry\n"+spawn+"CHECKPOINT RESUME \u2014 DO NOT re-execute completed work.\n"+
		"Tasks already completed: \nTasks remaining: \nLast action: one  two\ufffd[2J\nContinue from remaining tasks only.\n", hostile.Resumed)
	for _, as := range []codec.Name{crunch.Name, claude.Name} {
		assert.Equal(t, codec.Texts{}, textsFor(t, as, "recovery.json", nil))
	}
	for _, as := range []codec.Name{recovery.Name, dotagent.Name, pipeline.Name} {
		_, err := layout.Find(as).ResumeTexts(checkpoint.New())
		require.ErrorContains(t, err, "the record has no ")
	}
}

// All texts of all layouts match the golden file.
func TestTextsGolden(t *testing.T) {
	var b strings.Builder
	for _, name := range layouttest.Docs(t, "") {
		r := layouttest.Read(t, name).Apply(nil)
		r.SetCreatedAt(layouttest.MustTime(t, "2026-01-02T03:04:05Z"))
		r = layouttest.Stored(t, r)
		for _, as := range []codec.Name{recovery.Name, dotagent.Name, pipeline.Name} {
			texts, err := layout.Find(as).ResumeTexts(r)
			if err != nil {
				continue
			}
			fmt.Fprintf(&b, "=== %s as %s\n", name, as)
			for _, part := range [][2]string{{"found", texts.Found}, {"corrupt", texts.Corrupt}, {"old", texts.Old}, {"question", texts.Question}, {"resumed", texts.Resumed}, {"prompt", texts.Prompt}} {
				if part[1] != "" {
					fmt.Fprintf(&b, "--- %s\n%s|\n", part[0], part[1])
				}
			}
		}
	}
	golden := filepath.Join("testdata", "texts.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}
