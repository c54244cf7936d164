package checkpoint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"

	"github.com/stretchr/testify/require"
)

// typical returns a record of about 4 KB.
func typical() *Record {
	at := time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC)
	r := New()
	r.SetID("CP-implementing-20260214T143000Z-1f0c9a2b")
	r.SetCreatedAt(at)
	r.SetTrigger(BatchComplete)
	r.SetIssue("42")
	r.SetSession("4f9d2c1e-8a57-4b0e-9d55-0a3a7be3c111")
	r.SetPhase("implementing")
	r.SetStateLabel("state:implementing")
	r.SetPhaseStartedAt(at)
	r.SetPhaseAttempt(1)
	r.SetIssueSnapshot(IssueSnapshot{
		Known: true, Title: "Refresh tokens: rotate them",
		Body:   strings.Repeat("Tokens must rotate on every use, and an old one ends the family.\n- [ ] task\n\n", 12),
		Labels: []string{"state:implementing", "type:feature", "domain:security"},
	})
	r.SetBranch("feature/issue-42-jwt-refresh")
	r.SetCompletedBatches([]int{1, 2})
	r.SetCurrentBatch(3)
	var files []File
	for k := range 25 {
		files = append(files, File{fmt.Sprintf("src/auth/handlers/refresh_%02d.go", k), "modified", k%2 == 0})
	}
	r.SetFiles(files)
	r.SetCanResume(true)
	r.SetResumeFrom("batch_3_task_1")
	r.SetPrerequisitesMet(true)
	r.SetWarnings(nil)
	r.SetClock(Clock(at.UnixNano()))
	r.SetSnapshot(Snapshot{Head: strings.Repeat("a1", 20)})
	return r
}

func BenchmarkEncode(b *testing.B) {
	r := typical()
	data, err := r.Encode()
	require.NoError(b, err)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Encode()
	}
}

// BenchmarkEmit measures Encode without the final verification.
func BenchmarkEmit(b *testing.B) {
	r := typical()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = document.Emit(recordSchema.ordered(r.doc), 4096)
	}
}

func BenchmarkDecode(b *testing.B) {
	data, err := typical().Encode()
	require.NoError(b, err)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Decode(data)
	}
}

// BenchmarkDecodeOther measures the same record in noncanonical form.
func BenchmarkDecodeOther(b *testing.B) {
	data, err := typical().Encode()
	require.NoError(b, err)
	data = append([]byte("# by hand\n"), data...)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Decode(data)
	}
}

func BenchmarkDecodeJSON(b *testing.B) {
	data, err := typical().JSON()
	require.NoError(b, err)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Decode(data)
	}
}
