// Package sessions stores the sessions of agents in this clone: a JSON file for each, in
// .git/git-checkpoint/sessions of the common git directory.
//
// A session saves to the issue and the worktree that its record names. Without a record,
// an agent that changes its directory or its branch would save to another issue.
package sessions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// A Session is the record of an agent's session.
type Session struct {
	ID         string           `json:"id"`
	Agent      string           `json:"agent,omitempty"`      // name of the agent, or ""
	Transcript string           `json:"transcript,omitempty"` // path of the agent's transcript, or ""
	Issue      checkpoint.Issue `json:"issue"`
	Named      bool             `json:"named"`          // the branch or the environment named the issue
	Branch     string           `json:"branch"`         // "" for a detached HEAD
	Root       string           `json:"root"`           // root of the worktree
	Head       string           `json:"head,omitempty"` // Store.HeadMark at the start of the session, or of its turn
}

// Limits of the folder and of a record. Agents choose the texts of a record.
const (
	folder  = "sessions"
	most    = 200 // records
	days    = 30  // age of a record
	maxID   = 200
	maxPath = 4096
	maxSize = 32 << 10
)

var idShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*$`) })

// IsID reports whether an agent's id of a session is accepted. It needs no quotes in a
// shell and is no flag.
func IsID(id string) bool { return len(id) <= maxID && idShape().MatchString(id) }

// name returns the note of a session in a folder. It is a hash, because file systems treat names
// with different cases or colons in different ways.
func name(folder, id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(folder, hex.EncodeToString(sum[:16]))
}

// write stores a session in a folder. A session with an invalid id is not stored, and an invalid
// transcript path is left out.
func write(notes gitstore.Notes, folder string, s Session) error {
	if !IsID(s.ID) {
		return nil
	}
	if !IsPath(s.Transcript) {
		s.Transcript = ""
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return notes.Write(name(folder, s.ID), data)
}

// Write stores a session, and removes old records.
func Write(notes gitstore.Notes, s Session, now time.Time) error {
	if err := write(notes, folder, s); err != nil {
		return err
	}
	dir := notes.Path(folder)
	for i, f := range files(dir) {
		if i >= most || retention.Older(f.ModTime(), days, now) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
	return nil
}

// IsPath reports whether a transcript path is absolute and printable.
func IsPath(path string) bool {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	return len(path) <= maxPath && filepath.IsAbs(path) && utf8.ValidString(path) && !strings.ContainsFunc(path, control)
}

// files returns the files of the folder, the newest first.
func files(dir string) []os.FileInfo {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	return all
}

// Read returns the record of a session, and false if no valid record exists.
func Read(notes gitstore.Notes, id string) (Session, bool) {
	s, ok := read(notes.Path(name(folder, id)))
	return s, ok && s.ID == id
}

// read checks the record too: other programs can write to the folder.
func read(path string) (s Session, ok bool) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return s, false // opening a FIFO waits for a writer
	}
	f, err := os.Open(path)
	if err != nil {
		return s, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil || json.Unmarshal(data, &s) != nil {
		return Session{}, false
	}
	_, err = checkpoint.ParseIssue(string(s.Issue))
	if err != nil || !IsID(s.ID) || !filepath.IsAbs(s.Root) && s.Root != "" {
		return Session{}, false
	}
	if !IsPath(s.Transcript) {
		s.Transcript = ""
	}
	return s, true
}

// Claim reports whether no other hook has answered the start of a session just now. An
// agent with hooks in the settings of the project and of the user can call both, and
// Copilot also calls the hooks of Claude Code. source is the reason for the start. A plugin
// knows no reason. The parent of its hooks is the agent's process, and a new process means
// that the session is resumed.
func Claim(ctx context.Context, notes gitstore.Notes, agent, id, source string, now time.Time) bool {
	a := hook.AgentNamed(agent)
	if a == nil || !IsID(id) {
		return true
	}
	release, err := notes.Lock(ctx, claims)
	if err != nil {
		return true // two texts are better than none
	}
	defer release()
	process := 0
	if a.Plugin != "" {
		process = os.Getppid()
	}
	key := fmt.Sprintf("%s %s %.20q %d ", cmp.Or(a.Reads, a.Name), id, source, process)
	last, _ := os.ReadFile(notes.Path(claims))
	var recent []string
	for line := range strings.Lines(string(last)) {
		line = strings.TrimSuffix(line, "\n")
		at, err := time.Parse(time.RFC3339Nano, line[strings.LastIndexByte(line, ' ')+1:])
		if err != nil || now.Sub(at).Abs() >= claimTime {
			continue
		}
		if strings.HasPrefix(line, key) {
			return false
		}
		recent = append(recent, line+"\n")
	}
	_ = notes.Write(claims, []byte(strings.Join(recent, "")+key+now.Format(time.RFC3339Nano)+"\n"))
	return true
}

// claims is the note with the newest answered starts of sessions, one per line. A second
// hook for a session comes within claimTime.
const (
	claims    = "session-started"
	claimTime = 3 * time.Second
)

// Command returns the command that continues the session, or "" if its agent has none.
func (s Session) Command() string {
	a := hook.AgentNamed(s.Agent)
	if a == nil || a.Resume == "" {
		return ""
	}
	return a.Resume + " " + s.ID
}

// Ran records that an agent called a hook.
func Ran(notes gitstore.Notes, agent, hookName string, now time.Time) {
	if hook.AgentNamed(agent) == nil {
		return
	}
	_ = notes.Touch(filepath.Join(ran, agent+"-"+hookName), now) // a hook works without this time too
}

// LastRan returns the time at which an agent called a hook last, or the zero time. The name of the hook
// can be a pattern.
func LastRan(notes gitstore.Notes, agent, hookName string) time.Time {
	for _, f := range files(notes.Path(ran)) {
		if ok, _ := filepath.Match(agent+"-"+hookName, f.Name()); ok {
			return f.ModTime()
		}
	}
	return time.Time{}
}

// ran is the folder with an empty file for each hook that an agent called.
const ran = "hooks-ran"
