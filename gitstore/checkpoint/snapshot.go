package checkpoint

import (
	"fmt"
	"strings"
)

// Snapshot is what the trees of a checkpoint cannot say: where HEAD was, and
// what of the staging area and the worktree has no blob.
type Snapshot struct {
	Head        string // 40 hex digits, "" when unborn
	Detached    bool
	MergeHead   []string // commits being merged
	Deleted     []string // paths gone from the worktree, not from the staging area
	IntentToAdd []string // paths of `git add -N`
	Skipped     []Skipped
	Worktree    bool // unstaged changes are included
	Untracked   bool // untracked files are included
}

// Skipped is a file that was left out, and why.
type Skipped struct {
	Path   string
	Size   int64
	Reason string
}

// Reasons for which a save leaves a file out that a later save may have.
const (
	OutOfTime = "not read within the time budget"
	OverSize  = "over the size limit of the checkpoint"
)

// LargerThan is the reason for a file above the limit of a single file.
func LargerThan(limit int64) string { return fmt.Sprintf("larger than %d bytes", limit) }

// LeftOut returns the files that a limit of time or size kept out of the
// checkpoint. A path of "." stands for files that are not named.
func (s Snapshot) LeftOut() []Skipped {
	var left []Skipped
	for _, f := range s.Skipped {
		if f.Path == "." || f.Reason == OutOfTime || f.Reason == OverSize || strings.HasPrefix(f.Reason, "larger than ") {
			left = append(left, f)
		}
	}
	return left
}

// Snapshot returns snapshot.
func (r *Record) Snapshot() Snapshot {
	m := r.section("snapshot")
	s := Snapshot{
		Head:        text(m, "head"),
		Detached:    boolean(m, "detached", false),
		MergeHead:   texts(m, "merge_head"),
		Deleted:     paths(m, "deleted"),
		IntentToAdd: paths(m, "intent_to_add"),
		Worktree:    boolean(m, "worktree", false),
		Untracked:   boolean(m, "untracked", false),
	}
	for _, f := range mappings(m, "skipped") {
		s.Skipped = append(s.Skipped, Skipped{unquoted(text(f, "path")), integer(f, "size"), text(f, "reason")})
	}
	return s
}

// SetSnapshot replaces snapshot but for keys it does not know. Empty lists
// are left out.
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
		skipped[k] = &Map{entries: []entry{
			{"path", QuotePath(f.Path)},
			{"size", Int(f.Size)},
			{"reason", f.Reason},
		}}
	}
	setList(m, "skipped", skipped)
	m.Set("worktree", s.Worktree)
	m.Set("untracked", s.Untracked)
}

// setList sets a list that is left out when it is empty.
func setList[T any](m *Map, key string, l []T) {
	if len(l) == 0 {
		m.Delete(key)
		return
	}
	m.Set(key, list(l))
}
