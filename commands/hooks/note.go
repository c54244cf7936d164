package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// A sessionNote records the issue, branch and worktree of an agent's session at its last
// hook call. An agent may report the end of a session after another branch has been
// checked out. Notes are stored in .git/git-checkpoint/sessions, for all worktrees.
type sessionNote struct {
	Issue  checkpoint.Issue `json:"issue"`
	Branch string           `json:"branch"` // "" for a detached HEAD
	Root   string           `json:"root"`   // root of the worktree
}

// sessionNotes is the folder of the notes. Notes are removed after noteDays.
const (
	sessionNotes = "sessions"
	noteDays     = 30
)

// noteName returns the file name of a session's note. It is a hash, because agents choose
// the session ids.
func noteName(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(sessionNotes, hex.EncodeToString(sum[:16]))
}

// here returns the current issue, branch and worktree of the session. The issue has to be
// named by an option, a variable or the branch.
func here(c *invoke.Invocation) (sessionNote, error) {
	branch, err := c.CurrentBranch()
	if err != nil {
		return sessionNote{}, err
	}
	issue, err := c.NamedIssue()
	return sessionNote{Issue: issue, Branch: branch, Root: c.Store.Root()}, err
}

// noteSession writes the note of a session and removes old notes. A session that begins on
// a branch without an issue in its name gets no note: agents create their branch during
// the session. Without a note, the end of the session is saved to the issue that is named
// at that time.
func noteSession(c *invoke.Invocation, session string) {
	now, err := here(c)
	if session == "" || err != nil {
		return
	}
	if string(now.Issue) == now.Branch {
		_ = os.Remove(c.Store.Notes.Path(noteName(session)))
		return
	}
	data, err := json.Marshal(now)
	if err != nil {
		return
	}
	removeOldNotes(c.Store.Notes)
	_ = c.Store.Notes.Write(noteName(session), data)
}

func removeOldNotes(notes gitstore.Notes) {
	dir := notes.Path(sessionNotes)
	files, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && retention.Older(info.ModTime(), noteDays, time.Now()) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// readNote returns the note of a session, and false if no valid note exists.
func readNote(notes gitstore.Notes, session string) (note sessionNote, known bool) {
	if session == "" {
		return note, false
	}
	data, err := os.ReadFile(notes.Path(noteName(session)))
	if err != nil || json.Unmarshal(data, &note) != nil {
		return sessionNote{}, false
	}
	_, err = checkpoint.ParseIssue(string(note.Issue))
	return note, err == nil
}

// sessionIssue returns the issue for the save of a session, or "" and the reason. A session with a note is saved to the issue of the note if the noted branch is
// still checked out.
func sessionIssue(c *invoke.Invocation, session string) (i checkpoint.Issue, why string, err error) {
	now, err := here(c)
	note, known := readNote(c.Store.Notes, session)
	switch {
	case err != nil && !errors.Is(err, invoke.ErrUnnamed):
		return "", "", err
	case known && now.Root != note.Root:
		return "", "the session of issue " + string(note.Issue) + " was in " + note.Root, nil
	case known && now.Branch != note.Branch:
		return "", "the session of issue " + string(note.Issue) + " was on " + onBranch(note.Branch) + ", and HEAD is on " + onBranch(now.Branch), nil
	case known:
		return note.Issue, "", nil
	case err != nil:
		return "", "HEAD is detached, and GIT_CHECKPOINT_ISSUE is not set", nil
	}
	return now.Issue, "", nil
}

func onBranch(name string) string {
	if name == "" {
		return "a detached HEAD"
	}
	return "branch " + name
}

// handedIssue returns the issue whose checkpoint a hook hands to an agent. If the issue
// would be named after the branch and has no checkpoints, it returns the only issue whose
// newest checkpoint is on this branch.
func handedIssue(c *invoke.Invocation) (checkpoint.Issue, bool) {
	i, err := c.NamedIssue()
	if err == nil && c.Store.HasIssue(c.Ctx, i) {
		return i, true
	}
	branch, branchErr := c.CurrentBranch()
	if err != nil || branchErr != nil || string(i) != branch {
		return "", false
	}
	found, err := issuesOfBranch(c)
	if err != nil || len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// issuesOfBranch returns the issues whose newest checkpoint is on the current branch.
func issuesOfBranch(c *invoke.Invocation) ([]checkpoint.Issue, error) {
	branch, err := c.CurrentBranch()
	if err != nil {
		return nil, err
	}
	issues, _, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return nil, err
	}
	var found []checkpoint.Issue
	for _, i := range issues {
		if cp, err := c.Store.Newest(c.Ctx, i); err == nil && cp.Branch == gitstore.RecordedBranch(branch) {
			found = append(found, i)
		}
	}
	return found, nil
}
