package checkpoint

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint/document"
)

// A Coverage states how much of a class of files a snapshot has.
type Coverage string

// The coverages.
const (
	Complete Coverage = "complete" // every file of the class, so a missing path did not exist
	Partial  Coverage = "partial"  // files are missing, and Snapshot.Skipped lists them
	NoFiles  Coverage = "none"     // the class was not captured
)

// Classes of files in a snapshot.
const (
	InIndex     = "index"
	InWorktree  = "worktree"  // modified tracked files
	InUntracked = "untracked" // untracked files that git does not ignore
)

// An Extent states what a snapshot covers. Stated is false for a record of an earlier
// version, which does not say it: such a snapshot may have left out files without naming
// them, so the absence of a path in it proves nothing.
type Extent struct {
	Stated                     bool
	Index, Worktree, Untracked Coverage
}

// Extent returns what the snapshot covers.
func (s Snapshot) Extent() Extent {
	e := Extent{Stated: s.extentStated, Index: Complete, Worktree: Complete, Untracked: Complete}
	if !s.Worktree {
		e.Worktree = NoFiles
	}
	if !s.Untracked {
		e.Untracked = NoFiles
	}
	for class, c := range map[string]*Coverage{InIndex: &e.Index, InWorktree: &e.Worktree, InUntracked: &e.Untracked} {
		left := func(f Skipped) bool { return f.Class == class || f.Class == "" }
		if *c == Complete && slices.ContainsFunc(s.Skipped, left) {
			*c = Partial
		}
	}
	return e
}

// StatedExtent returns the extent as the record states it. Snapshot.Extent derives it from other
// fields instead.
func (r *Record) StatedExtent() Extent {
	m, ok := r.section("snapshot").Child("extent")
	word := func(class string) Coverage { return Coverage(document.TextOf(m, class)) }
	return Extent{ok, word(InIndex), word(InWorktree), word(InUntracked)}
}

// Words returns the coverages of index, worktree and untracked files.
func (e Extent) Words() []Coverage { return []Coverage{e.Index, e.Worktree, e.Untracked} }

// LacksClasses returns the classes of worktree files that the snapshot did not capture, or of
// which it left out files for a reason of that save. An earlier snapshot can have these files.
func (s Snapshot) LacksClasses() (classes []string) {
	for class, captured := range map[string]bool{InWorktree: s.Worktree, InUntracked: s.Untracked} {
		left := func(f Skipped) bool { return (f.Class == class || f.Class == "") && f.isOfThisSave() }
		if !captured || slices.ContainsFunc(s.Skipped, left) {
			classes = append(classes, class)
		}
	}
	return classes
}

// isOfThisSave reports whether the next save of an unchanged worktree can have the file.
func (f Skipped) isOfThisSave() bool {
	return f.Path == "." || f.Reason == OutOfTime || f.Reason == OverSize || f.Reason == NotReadable || f.Reason == "not readable"
}

// Lacks reports whether Skipped or Kept lists a path, or a directory above the path.
func (s Snapshot) Lacks(path string) bool {
	return slices.ContainsFunc(s.Skipped, func(f Skipped) bool { return IsWithin(path, f.Path) }) ||
		slices.ContainsFunc(s.Kept, func(kept string) bool { return IsWithin(path, kept) })
}

// IsWithin reports whether a path equals dir or is below it. dir may end with a slash; "."
// means the root.
func IsWithin(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}
