package checkpoint

import (
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Snapshot holds the state that the trees of a checkpoint lack: HEAD, and parts of index
// and worktree without a blob.
type Snapshot struct {
	Head        string // 40 or 64 hex digits, "" if unborn
	Detached    bool
	MergeHead   []string // commits of a merge in progress
	Deleted     []string // paths missing in the worktree but present in the index
	IntentToAdd []string // paths of `git add -N`
	Skipped     []Skipped
	Worktree    bool // includes unstaged changes
	Untracked   bool // includes untracked files
}

// Skipped is a file omitted from the checkpoint, with the reason.
type Skipped struct {
	Path   string
	Size   int64
	Reason string
}

// Reasons for omitted files that a later save can include.
const (
	OutOfTime = "not read within the time budget"
	OverSize  = "over the size limit of the checkpoint"
)

// LargerThan returns the reason for a file above the limit for single files.
func LargerThan(limit int64) string { return fmt.Sprintf("larger than %d bytes", limit) }

// LeftOut returns the files omitted because of a time or size limit. The path "."
// represents unnamed files.
func (s Snapshot) LeftOut() []Skipped {
	var left []Skipped
	for _, f := range s.Skipped {
		if f.Path == "." || f.Reason == OutOfTime || f.Reason == OverSize || strings.HasPrefix(f.Reason, "larger than ") {
			left = append(left, f)
		}
	}
	return left
}

// Snapshot returns the snapshot section.
func (r *Record) Snapshot() Snapshot {
	m := r.section("snapshot")
	s := Snapshot{
		Head:        document.TextOf(m, "head"),
		Detached:    boolean(m, "detached", false),
		MergeHead:   document.TextsOf(m, "merge_head"),
		Deleted:     paths(m, "deleted"),
		IntentToAdd: paths(m, "intent_to_add"),
		Worktree:    boolean(m, "worktree", false),
		Untracked:   boolean(m, "untracked", false),
	}
	for _, f := range mappings(m, "skipped") {
		s.Skipped = append(s.Skipped, Skipped{unquoted(document.TextOf(f, "path")), integer(f, "size"), document.TextOf(f, "reason")})
	}
	return s
}

// SetSnapshot replaces the snapshot section, except unknown keys. Empty lists are
// omitted.
func (r *Record) SetSnapshot(s Snapshot) {
	m := r.mustSection("snapshot")
	m.Set("head", nil)
	if s.Head != "" {
		m.Set("head", s.Head)
	}
	m.Set("detached", s.Detached)
	setList(m, "merge_head", s.MergeHead)
	setList(m, "deleted", quotedPaths(s.Deleted))
	setList(m, "intent_to_add", quotedPaths(s.IntentToAdd))
	skipped := make([]*Map, len(s.Skipped))
	for k, f := range s.Skipped {
		skipped[k] = &Map{Entries: []document.Entry{
			{Key: "path", Value: QuotePath(f.Path)},
			{Key: "size", Value: Int(f.Size)},
			{Key: "reason", Value: f.Reason},
		}}
	}
	setList(m, "skipped", skipped)
	m.Set("worktree", s.Worktree)
	m.Set("untracked", s.Untracked)
}

// setList sets a list, or deletes the key if the list is empty.
func setList[T any](m *Map, key string, l []T) {
	if len(l) == 0 {
		m.Delete(key)
		return
	}
	m.Set(key, document.ListOf(l))
}
