package checkpoint

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/git/objectformat"
)

// Snapshot holds the state that the trees of a checkpoint lack: HEAD, and parts of index
// and worktree without a blob.
type Snapshot struct {
	Scope       Scope      `record:"scope,keep"`
	Head        string     `record:"head"` // HashText of HEAD, "" if unborn; for display: the state commit has HEAD
	Detached    bool       `record:"detached,keep"`
	MergeHead   []string   `record:"merge_head"`         // HashText of the commits of a merge in progress
	Deleted     []string   `record:"deleted,path"`       // paths missing in the worktree but present in the index
	IntentToAdd []string   `record:"intent_to_add,path"` // paths of `git add -N`
	Kept        []string   `record:"kept,path"`          // paths that are removed from the index and still lie in the worktree
	Skipped     []Skipped  `record:"skipped"`
	Ignores     string     `record:"ignores"` // digest of git's rules for ignored files that the snapshot does not have
	Modes       []FileMode `record:"modes"`
	Flagged     []Flagged  `record:"flagged"`
}

// A Scope states how much of the files a save captured.
type Scope string

// The scopes. A path that a save did not capture is carried: the state has a version from
// another source.
const (
	ScopeWhole  Scope = "whole"  // all files but those in Skipped
	ScopeStaged Scope = "staged" // staged changes only
	ScopeCut    Scope = "cut"    // the time limit passed before all files were listed
)

// Skipped is a path that the save did not capture, with the reason. A directory ends with a slash,
// and "." stands for unnamed files.
type Skipped struct {
	Path   string `record:"path,path,keep"`
	Size   int64  `record:"size,keep"`
	Reason string `record:"reason,keep"`

	// CarriedFrom is the checkpoint whose version the state has. If it is empty, the state has the
	// version of the index or of HEAD, or no file.
	CarriedFrom ID `record:"carried_from" empty:"null"`
}

// A FileMode is a path whose permissions in the worktree are tighter than the umask.
type FileMode struct {
	Path string `record:"path,path,keep"`
	Mode string `record:"mode,keep"` // permission bits in octal
}

// Permissions returns the permission bits of Modes by path.
func (s Snapshot) Permissions() map[string]fs.FileMode {
	bits := map[string]fs.FileMode{}
	for _, f := range s.Modes {
		if n, err := strconv.ParseUint(f.Mode, 8, 9); err == nil {
			bits[f.Path] = fs.FileMode(n)
		}
	}
	return bits
}

// A Flagged is a path that was captured although a flag of the index tells git not to read it.
type Flagged struct {
	Path string `record:"path,path,keep"`
	Flag string `record:"flag,keep"` // skip-worktree or assume-unchanged
}

// HashText returns an object name with its algorithm, as records show it: "sha1:" or "sha256:" and
// hex digits.
func HashText(hex string) string { return objectformat.Name + ":" + hex }

// HashOf returns the hex digits of a result of HashText, or "" if it has another algorithm.
func HashOf(text string) string {
	hex, ok := strings.CutPrefix(text, objectformat.Name+":")
	if !ok {
		return ""
	}
	return hex
}

// Reasons for omitted files. A later save can include those of the first two.
const (
	OutOfTime = "not read within the time budget"
	OverSize  = "over the size limit of the checkpoint"

	NotReadable      = "gone or not readable"
	TooLong          = "a path longer than the system's limit"
	UnreadRules      = "in a directory whose .gitignore cannot be read"
	MovedSubmodule   = "a submodule on another commit than the one that is staged"
	ChangedSubmodule = "a submodule with changes of its own"
	NotListed        = "untracked files are not listed: status.showUntrackedFiles is no"
)

// TooManyFiles returns the reason for a directory with too many new untracked files.
func TooManyFiles(limit int) string {
	return fmt.Sprintf("more than %d %s; ignore it, or raise limits.untracked_files", limit, TooMany)
}

// TooMany is in each reason of TooManyFiles.
const TooMany = "new untracked files"

// LargerThan returns the reason for a file above the limit for single files.
func LargerThan(limit int64) string { return fmt.Sprintf("larger than %d bytes", limit) }

// LeftOut returns the files omitted because of a limit, or because they could not be read. The
// path "." represents unnamed files.
func (s Snapshot) LeftOut() []Skipped {
	reasons := []string{OutOfTime, OverSize, NotReadable, TooLong, UnreadRules, MovedSubmodule, ChangedSubmodule}
	var left []Skipped
	for _, f := range s.Skipped {
		if f.Path == "." && f.Reason != NotListed || slices.Contains(reasons, f.Reason) || f.IsTooLarge() || strings.Contains(f.Reason, TooMany) {
			left = append(left, f)
		}
	}
	return left
}

// IsTooLarge reports whether the file is above the limit for single files.
func (f Skipped) IsTooLarge() bool { return strings.HasPrefix(f.Reason, "larger than ") }

// IsOutOfTime reports whether files were omitted because of the time limit.
func (s Snapshot) IsOutOfTime() bool {
	return slices.ContainsFunc(s.Skipped, func(f Skipped) bool { return f.Reason == OutOfTime })
}

// Snapshot returns the snapshot section.
func (r *Record) Snapshot() (s Snapshot) {
	Load(r.doc.Sub("snapshot"), &s)
	return s
}

// SetSnapshot replaces the snapshot section, except unknown keys. Empty lists are
// omitted.
func (r *Record) SetSnapshot(s Snapshot) {
	m := r.doc.MustSub("snapshot")
	s.Scope = cmp.Or(s.Scope, ScopeWhole)
	Store(m, s)
	if s.Head == "" {
		m.Set("head", nil)
	}
}

// Lacks reports whether Skipped or Kept lists a path, or a directory above the path. The path "."
// does not count.
func (s Snapshot) Lacks(path string) bool {
	return s.Skips(path) || slices.ContainsFunc(s.Kept, func(kept string) bool { return IsWithin(path, kept) })
}

// Skips reports whether Skipped lists a path, or a directory above the path. The path "." does not
// count.
func (s Snapshot) Skips(path string) bool {
	return slices.ContainsFunc(s.Skipped, func(f Skipped) bool { return f.Path != "." && IsWithin(path, f.Path) })
}

// IsWithin reports whether a path equals dir or is below it. dir may end with a slash; "."
// means the root.
func IsWithin(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}

// IssueSnapshot is the state of the issue at the save. Known reports whether the record
// has more than the branch.
type IssueSnapshot struct {
	Title      string   `record:"title,keep"`
	Body       string   `record:"body"`
	BodyDigest string   `record:"body_digest"` // replaces a body that is not stored
	Labels     []string `record:"labels,keep"`
	Assignees  []string `record:"assignees,keep"`
	State      string   `record:"state"`  // open or closed
	Source     string   `record:"source"` // origin of the data
	Known      bool
}

// Branch returns issue_snapshot.branch, "" for a detached HEAD.
func (r *Record) Branch() string { return r.doc.Sub("issue_snapshot").Text("branch") }

// SetBranch sets issue_snapshot.branch; a detached HEAD ("") becomes null.
func (r *Record) SetBranch(s string) {
	var v any
	if s != "" {
		v = s
	}
	r.doc.MustSub("issue_snapshot").Set("branch", v)
}

// IssueSnapshot returns issue_snapshot. Labels have their original order if recorded.
func (r *Record) IssueSnapshot() (s IssueSnapshot) {
	m := r.doc.Sub("issue_snapshot")
	Load(m, &s)
	if order := m.Texts("labels_order"); slices.Equal(slices.Sorted(slices.Values(order)), slices.Sorted(slices.Values(s.Labels))) {
		s.Labels = order
	}
	for _, key := range []string{"title", "body", "body_digest", "labels", "assignees"} {
		v, _ := m.Get(key)
		s.Known = s.Known || v != nil
	}
	return s
}

// SetIssueSnapshot replaces issue_snapshot, except its branch and unknown keys. If s is
// not Known, only these remain.
func (r *Record) SetIssueSnapshot(s IssueSnapshot) {
	m := r.doc.MustSub("issue_snapshot")
	for _, key := range []string{"title", "body", "body_digest", "labels", "assignees", "labels_order", "state", "source"} {
		m.Delete(key)
	}
	if !s.Known {
		return
	}
	order := s.Labels
	s.Labels = slices.Sorted(slices.Values(order))
	Store(m, s)
	if s.BodyDigest == "" {
		m.Set("body", s.Body)
	}
	if !slices.Equal(order, s.Labels) {
		m.Set("labels_order", order)
	}
}

// File is an entry of files_modified. Path is unquoted.
type File struct {
	Path   string `record:"path,path,keep"`
	Status string `record:"status,keep"`
	Staged bool   `record:"staged,keep"`
}

// files has the list of files_modified.
type files struct {
	List []File `record:"files_modified,keep"`
}

// Output is an output file of an agent, a phase or a task. Agent is empty for a phase.
// Digest is the file's digest at the save, "" if unknown.
type Output struct{ Agent, Action, Location, Digest string }

// Files returns files_modified.
func (r *Record) Files() []File {
	var f files
	Load(r.doc, &f)
	return f.List
}

// SetFiles replaces files_modified.
func (r *Record) SetFiles(list []File) { Store(r.doc, files{list}) }

// Outputs returns, in document order, agent outputs with an output_location, then phase
// outputs, then outputs of completed tasks.
func (r *Record) Outputs() []Output {
	var out []Output
	for agent, actions := range r.doc.Sub("agent_outputs").Subs() {
		for action, m := range actions.Subs() {
			if place := m.Text("output_location"); place != "" {
				out = append(out, Output{agent, action, place, m.Text("output_digest")})
			}
		}
	}
	for phase, m := range r.doc.Sub("progress").Sub("phases").Subs() {
		if place := m.Text("output"); place != "" {
			out = append(out, Output{"", phase, Unquoted(place), m.Text("output_digest")})
		}
	}
	add := func(id string, m *Map) {
		if place := m.Text("output"); place != "" && m.Text("status") == "complete" {
			out = append(out, Output{taskAgent, id, place, m.Text("output_digest")})
		}
	}
	for id, m := range r.doc.Sub("tasks").Subs() {
		add(id, m)
	}
	for _, m := range r.doc.Maps("tasks") {
		add(m.Text("id"), m)
	}
	return out
}

// PhaseArtifacts returns the artifact paths of all phases in document order.
func (r *Record) PhaseArtifacts() []string {
	var out []string
	for _, m := range r.doc.Sub("progress").Sub("phases").Subs() {
		for _, a := range m.Maps("artifacts") {
			if p := a.Text("path"); p != "" {
				out = append(out, Unquoted(p))
			}
		}
	}
	return out
}

// SetOutputDigest sets the digest of an existing output. An empty digest deletes the key.
func (r *Record) SetOutputDigest(agent, action, digest string) {
	parts := r.doc.Sub("agent_outputs").Sub(agent)
	if agent == "" {
		parts = r.doc.Sub("progress").Sub("phases")
	}
	if m, ok := parts.Child(action); ok {
		m.SetText("output_digest", digest)
	}
}

// Unquoted returns the unquoted path, or s itself if s is invalid, which Validate
// reports.
func Unquoted(s string) string {
	if p, err := UnquotePath(s); err == nil {
		return p
	}
	return s
}

// taskAgent replaces the agent of a task's output. The digest of such an output dates
// from the task's completion.
const taskAgent = ":task"
