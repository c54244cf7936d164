package repo

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// A fetch with --prune and the refspec +refs/*:refs/* deletes the refs of a chain together
// with own/ and their reflogs. So the last value of own/ is also in a file, one for each
// issue, which no refspec reaches.

// OwnNotes returns the directory of these files.
func (s *Repo) OwnNotes() string { return s.NotePath("own") }

// noteOwn writes the new values of own/ to their files, after a move of refs and before
// the caller reports success. A file that cannot be written is removed, because an old
// value could bring back dropped checkpoints.
func (s *Repo) noteOwn(moves []refs.Move) {
	for _, m := range moves {
		name, own := strings.CutPrefix(m.Name, OwnRefs)
		if !own || strings.Contains(name, "/") {
			continue
		}
		file := filepath.Join(s.OwnNotes(), name)
		if m.New.IsZero() || s.WriteUnsynced(file, []byte(ownNote(m.New, name))) != nil {
			_ = os.Remove(file)
		}
	}
}

// ownNote returns the content of a file: the value of own/ and the issue's name in refs. Where
// file names have no case, another issue can have the file.
func ownNote(tip plumbing.Hash, name string) string { return tip.String() + " " + name + "\n" }

// NotedOwn returns the last value of own/ from its file, or zero.
func (s *Repo) NotedOwn(i checkpoint.Issue) plumbing.Hash {
	data, err := os.ReadFile(filepath.Join(s.OwnNotes(), i.RefName()))
	text, _, _ := strings.Cut(string(data), " ")
	if err != nil || !plumbing.IsHash(text) || string(data) != ownNote(plumbing.NewHash(text), i.RefName()) {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(text)
}

// NotedIssues returns the issues that have a file with the last value of own/.
func (s *Repo) NotedIssues() []checkpoint.Issue {
	entries, err := os.ReadDir(s.OwnNotes())
	if err != nil {
		return nil
	}
	var issues []checkpoint.Issue
	for _, e := range entries {
		if i, err := checkpoint.IssueFromRef(e.Name()); err == nil {
			issues = append(issues, i)
		}
	}
	return issues
}
