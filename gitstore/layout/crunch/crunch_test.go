package crunch_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
)

// Duplicate keys and several documents in a crunch file are warnings, strict errors, and
// preserved bytes.
func TestTolerated(t *testing.T) {
	const base = "checkpoint_id: CP-enrich-20260105-9f3c\nversion: \"1.0\"\ncreated_at: \"2026-01-05T10:00:00Z\"\nissue_number: 77\n" +
		"workflow_state: {current_phase: enrich}\nrecovery_info: {can_resume: true, resume_from: x}\n"
	for text, want := range map[string]string{
		base + "note: one\nnote: two\n": `line 8, column 1: key "note" is a duplicate: the last one counts (syntax)`,
		base + "---\n- more\n":          `line 1, column 1: one of several documents: the others are kept but not read (syntax)`,
	} {
		f, err := layout.Read("", "CP-enrich-20260105-9f3c.yaml", []byte(text))
		require.NoError(t, err)
		require.NoError(t, f.Err(false))
		require.ErrorContains(t, f.Err(true), want)
		assert.Equal(t, want, f.Problems[0].String())
		r := layouttest.Stored(t, f.Apply(nil))
		assert.Equal(t, "77", string(r.Issue()))
		if strings.Contains(text, "note") {
			assert.Equal(t, "two", r.Note())
		}
		out, err := layout.Find(crunch.Name).Of(r)
		require.NoError(t, err)
		require.Len(t, out, 1)
		assert.Equal(t, text, string(out[0].Data), "nothing that was there is lost")
	}
	_, err := layout.Read("pipeline", "", []byte("storyId: S\nstoryId: T\nstage: 2\n"))
	require.Error(t, err, "documents in JSON are read as JSON")
}
