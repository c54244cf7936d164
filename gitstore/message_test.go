package gitstore

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// described returns the description in a record's commit.
func described(r *checkpoint.Record) Checkpoint {
	c := chain.Seal(repo.RawCommit{Message: chain.EncodeMessage("42", r, nil), Parents: make([]plumbing.Hash, 2)}, nil)
	return chain.CheckpointOf(c, "42")
}

func noted(note string) *checkpoint.Record {
	r := checkpoint.New()
	r.SetID("CP-implementing-20260214T143000Z-1f0c9a2b")
	r.SetTrigger(checkpoint.Manual)
	r.SetPhase("implementing")
	r.SetBranch("main")
	r.SetClock(7)
	r.SetCanResume(false)
	r.SetNote(note)
	return r
}

var hostileNotes = []string{
	"", "a", "two\nlines", "two\n\nparagraphs", "    indented", "a\n    b", "\n\nblank lines around\n\n",
	"Checkpoint-Id: CP-forged", "x\n\nCheckpoint-Id: CP-forged\nCheckpoint-Clock: 9", "checkpoint-id: CP-forged",
	"\tCheckpoint-Id: CP-forged", "x\n---\ny", "x\n\nSigned-off-by: y", "a\r\nCheckpoint-Id: CP-forged",
	"ledger of issue 42", "x\n\n\n\nCheckpoint-Id: CP-forged\n\n", " ", "#", "chec\u212apoint-Id: CP-forged",
}

func FuzzNote(f *testing.F) {
	for _, note := range hostileNotes {
		f.Add(note)
	}
	f.Fuzz(checkNote)
}

// Notes never change parsed trailers, and can be decoded again.
func checkNote(t *testing.T, note string) {
	want, got := described(noted("")), described(noted(note))
	clean := strings.Trim(strings.ReplaceAll(note, "\x00", "\ufffd"), "\n")
	assert.Equal(t, clean, got.Note, "%q", note)
	got.Note, got.Content = "", want.Content
	assert.Equal(t, want, got, "%q", note)
	for line := range strings.Lines(chain.EncodeNote(note)) {
		assert.False(t, strings.HasPrefix(line, "Checkpoint-"), "%q", note)
	}
}

// Git parses equal trailers for any note.
func TestGitReadsOurTrailers(t *testing.T) {
	gittest.Slow(t)
	w := newWorld(t)
	for _, note := range hostileNotes {
		saved := w.save(w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetNote(note) }))
		commit := saved.Commit.String()
		got := w.Git("log", "-1", "--format=%(trailers:key=Checkpoint-Id,valueonly)", commit)
		assert.Equal(t, string(saved.ID), strings.TrimSpace(got), "%q", note)
		message := w.Git("log", "-1", "--format=%B", commit)
		parsed := string(w.Pipe([]byte(message), "interpret-trailers", "--parse"))
		assert.Equal(t, 1, strings.Count(strings.ToLower(parsed), "checkpoint-id: "), "%q", note)
		assert.Contains(t, parsed, "Checkpoint-Id: "+string(saved.ID), "%q", note)
	}
	assert.Empty(t, w.Git("log", "--format=%H", "--grep", "^Checkpoint-Id: CP-forged", "refs/checkpoints/42"))
	assert.Empty(t, w.Git("log", "-i", "--format=%H", "--grep", "^Checkpoint-Id: CP-forged", "refs/checkpoints/42"))
	w.sound()
}

func TestTrailersQuoteSpecialCharacters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"plain", "with: colon", " around ", "new\nline", "x\nCheckpoint-Id: CP-forged", "tab\t", "\x7f", "\"quoted\"", "\u2028", "é", "\\",
	} {
		r := noted("")
		r.SetPhase(text)
		r.SetBranch(text)
		got := described(r)
		assert.Empty(t, got.Problem, "%q", text)
		assert.Equal(t, text, got.Phase)
		assert.Equal(t, text, got.Branch)
		assert.Equal(t, r.ID(), got.ID)
		assert.NotContains(t, chain.EncodeMessage("42", r, nil), "\nCheckpoint-Id: CP-forged")
	}
}

func TestDescribeReportsProblem(t *testing.T) {
	t.Parallel()
	good := chain.Seal(repo.RawCommit{Message: chain.EncodeMessage("42", noted(""), []checkpoint.ID{"x-1", "x-2"})}, nil).Message
	for name, c := range map[string]struct{ old, new, want string }{
		"no id":         {"Checkpoint-Id: ", "Other: ", "no Checkpoint-Id"},
		"bad id":        {"Checkpoint-Id: CP-", "Checkpoint-Id: CP -", "Checkpoint-Id: "},
		"other issue":   {"Checkpoint-Issue: 42", "Checkpoint-Issue: 43", "belongs to issue 43"},
		"bad clock":     {"Clock: 7", "Clock: -7", "Checkpoint-Clock: "},
		"huge clock":    {"Clock: 7", "Clock: 77777777777777777777", "Checkpoint-Clock: "},
		"bad resumable": {"Resumable: false", "Resumable: maybe", "Checkpoint-Resumable: "},
		"shouted":       {"Resumable: false", "Resumable: FALSE", "Checkpoint-Resumable: "},
		"no after":      {"Checkpoint-After: x-1 x-2\n", "", "no Checkpoint-After"},
		"bad after":     {"After: x-1 x-2", "After: x-1  x-2", "Checkpoint-After: "},
		"nine after":    {"After: x-1 x-2", "After: 1 2 3 4 5 6 7 8 9", "Checkpoint-After: "},
		"scope":         {"Scope: whole", "Scope: all", "Checkpoint-Scope: "},
		"left out":      {"Checkpoint-Scope: ", "Checkpoint-Left-Out: -1\nCheckpoint-Scope: ", "Checkpoint-Left-Out: "},
		"turn":          {"Checkpoint-Scope: ", "Checkpoint-Turn: 07\nCheckpoint-Scope: ", "Checkpoint-Turn: "},
		"restored from": {"Checkpoint-Scope: ", "Checkpoint-Restored-From: \nCheckpoint-Scope: ", "Checkpoint-Restored-From: "},
		"content":       {"Checkpoint-Content: ", "Checkpoint-Content: 0", "Checkpoint-Content: "},
		"twice":         {"Checkpoint-Scope: ", "Checkpoint-Scope: cut\nCheckpoint-Scope: ", "twice"},
		"version":       {"Version: 1.0", "Version: 1.x", "Checkpoint-Version: "},
		"major version": {"Version: 1.0", "Version: 1", "Checkpoint-Version: "},
		"bad phase":     {"Phase: implementing", "Phase: \"", "Checkpoint-Phase: "},
		"no trailer":    {"Version: 1.0", "Version 1.0", "not a trailer"},
	} {
		t.Run(name, func(t *testing.T) {
			message := strings.Replace(good, c.old, c.new, 1)
			require.NotEqual(t, good, message)
			got := chain.CheckpointOf(repo.RawCommit{Message: message, Parents: make([]plumbing.Hash, 2)}, "42")
			assert.Contains(t, got.Problem, c.want)
			assert.False(t, got.Valid())
		})
	}
}
