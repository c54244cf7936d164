package repo

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/filelock"
	"git-checkpoint/gitstore/internal/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// A save writes loose objects. Thousands of loose files slow git down, so Consolidate
// packs them from time to time. Two notes name the files that this program wrote, one
// name a line:
//
//	loose     loose objects, since the last consolidation
//	packs     packs of earlier consolidations
//
// A process appends its objects to the note after the refs have moved, so refs or reflogs
// reach them. If an entry is lost, the object stays loose until git gc packs it.

const (
	looseNote   = "loose"
	packingNote = "loose.packing" // the note during a consolidation
	packsNote   = "packs"
)

// LooseLimit is the number of loose objects that starts a consolidation after a save.
const LooseLimit = 200

// noteLoose records the loose objects that a writer has created, and those that git has written for
// it.
func (s *Repo) noteLoose(k *ObjectWriter) {
	placed := k.batch.Placed()
	for _, h := range k.ByGit {
		if s.Objects.HasLoose(h) {
			placed = append(placed, h)
		}
	}
	if len(placed) == 0 {
		return
	}
	var text strings.Builder
	for _, h := range placed {
		text.WriteString(h.String() + "\n")
	}
	_ = s.appendNote(looseNote, text.String())
}

// appendNote appends lines to a note with one write, which other processes cannot split.
func (s *Repo) appendNote(name, text string) error {
	path := s.NotePath(name)
	f, err := filelock.Open(path, os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		s.Objects.Share(path)
	}
	_, err = io.WriteString(f, text)
	return err
}

// IsConsolidationDue reports whether this program has written at least limit loose objects
// since the last consolidation. With extensions.preciousObjects, no consolidation is due,
// because other repositories may borrow the objects. Git deletes no objects there either.
func (s *Repo) IsConsolidationDue(limit int) bool {
	if s.Info.Precious {
		return false
	}
	info, err := os.Lstat(s.NotePath(looseNote))
	return err == nil && info.Size() >= int64(limit)*int64(len(plumbing.ZeroHash.String())+1)
}

// Consolidate packs the loose objects that this program has written, if there are at
// least limit. If another process consolidates, or git maintains the repository, it does
// nothing.
func (s *Repo) Consolidate(ctx context.Context, limit int) error {
	if !s.IsConsolidationDue(limit) || s.isMaintained() {
		return nil
	}
	lock, err := filelock.Open(s.NotePath(packingNote+".lock"), os.O_CREATE)
	if err != nil {
		return err
	}
	defer lock.Close()
	s.Objects.Share(lock.Name())
	if !filelock.Try(lock) {
		return nil
	}
	aside := s.NotePath(packingNote)
	if before, err := os.ReadFile(aside); err == nil { // of a consolidation that failed or was killed
		if err := s.appendNote(looseNote, string(before)); err != nil {
			return err
		}
	}
	// First, so that other processes begin a new note.
	if err := os.Rename(s.NotePath(looseNote), aside); err != nil {
		return err
	}
	loose := parseNames(aside)
	done, err := s.Objects.Consolidate(ctx, loose, odb.ConsolidateOptions{
		Packs:        s.notedPacks(),
		Note:         func(pack string) error { return s.appendNote(packsNote, pack+"\n") },
		IsMaintained: s.isMaintained,
	})
	if err != nil {
		return err
	}
	if len(done.Removed) > 0 { // only the process that consolidates replaces this note
		names := slices.DeleteFunc(s.notedPacks(), func(name string) bool { return slices.Contains(done.Removed, name) })
		if err := s.WriteNote(packsNote, []byte(strings.Join(names, "\n")+"\n")); err != nil {
			return err
		}
	}
	return os.Remove(aside)
}

// isMaintained reports whether git gc or git maintenance holds its lock. Git itself never
// ignores the lock of a killed git maintenance. Here its age counts as for gc.pid, because
// loose objects would otherwise accumulate until a person deletes the lock.
func (s *Repo) isMaintained() bool {
	return s.GCRuns() || fsutil.IsYounger(filepath.Join(s.Info.ObjectDir, "maintenance.lock"), lockAge)
}

// notedPacks returns the packs of earlier consolidations.
func (s *Repo) notedPacks() []string {
	data, _ := os.ReadFile(s.NotePath(packsNote))
	return strings.Fields(string(data))
}

// parseNames returns the objects in a note. It skips incomplete lines of a killed process.
func parseNames(path string) (list []plumbing.Hash) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if h := plumbing.NewHash(line); h.String() == line && !h.IsZero() {
			list = append(list, h)
		}
	}
	return list
}

// OwnLoose returns the loose objects and packs that this program wrote and that still
// exist.
func (s *Repo) OwnLoose() (loose, packs int) {
	seen := map[plumbing.Hash]bool{}
	for _, name := range []string{looseNote, packingNote} {
		for _, h := range parseNames(s.NotePath(name)) {
			if !seen[h] && s.Objects.HasLoose(h) {
				loose++
			}
			seen[h] = true
		}
	}
	for _, name := range s.notedPacks() {
		if _, err := os.Lstat(filepath.Join(s.Objects.Dirs()[0], "pack", filepath.Base(name)+".idx")); err == nil {
			packs++
		}
	}
	return loose, packs
}
