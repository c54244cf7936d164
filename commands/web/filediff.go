package web

import (
	"fmt"
	"strings"

	"git-checkpoint/gitstore"
)

// Limits of a page with patches.
const (
	maxPatch     = 4 << 20 // bytes of git's output
	maxDiffFiles = 300
	maxDiffLines = 6000 // lines per page
	maxFileLines = 800  // lines per file unless shown alone
)

// A FileDiff holds the changes of a file.
type FileDiff struct {
	Path, Was      string // Was is the previous path of a renamed file
	Status, Letter string
	Anchor         string
	Added, Deleted int
	Notes          []string
	Hunks          []Hunk
	Folded         bool
	More           string // note about omitted lines, or ""
	URL            string // URL of the complete diff
	Blame          string // URL of the page about the lines, or ""
	Back           string // URL that asks whether to restore this file, or ""

	paths []string
}

// A budget limits shown lines per page and per file.
type budget struct{ page, file int }

// spend returns the remaining lines for a file.
func (b *budget) spend() int { return max(0, min(b.page, b.file)) }

func letter(status string) string {
	switch status {
	case "typechange":
		return "T"
	case "conflicted":
		return "U"
	}
	return strings.ToUpper(cut(status, 1))
}

// fileDiffs combines changed files with git's patches in the same order. whole reports
// that the patch is complete.
func fileDiffs(files []gitstore.FileChange, patch []byte, whole bool, b *budget) (list []FileDiff, left int) {
	sections := strings.Split("\n"+string(patch), "\ndiff --git ")[1:] // lines of content begin with another character
	if want := 0; whole {
		for _, f := range files {
			want += patchesOf(f)
		}
		if want != len(sections) {
			sections = nil // avoids showing another file's patch
		}
	}
	for i, f := range files {
		if len(list) == maxDiffFiles {
			return list, len(files) - i
		}
		d := FileDiff{
			Path: line(cut(f.Path, maxText)), Was: line(cut(f.From, maxText)), Status: f.Status, Letter: letter(f.Status),
			Anchor: fmt.Sprintf("f%d", i+1), Notes: modeNotes(f), paths: []string{f.Path},
		}
		if f.From != "" {
			d.paths = append(d.paths, f.From)
		}
		n := min(patchesOf(f), len(sections))
		for _, section := range sections[:n] {
			p := parsePatch(section, b.spend())
			b.page -= p.shown
			d.Added, d.Deleted, d.Hunks = d.Added+p.added, d.Deleted+p.deleted, append(d.Hunks, p.hunks...)
			if p.binary {
				d.Notes = append(d.Notes, "A binary file.")
			}
			if p.cut {
				d.More = "More lines changed: show this file alone"
			}
		}
		if sections = sections[n:]; !whole && len(sections) == 0 {
			d.More = "The rest of the diff is too long for a page: show this file alone"
		}
		list = append(list, d)
	}
	return list, 0
}

// patchesOf returns the number of git's patches for a changed file.
func patchesOf(f gitstore.FileChange) int {
	switch {
	case f.OldMode == 0 && f.NewMode == 0:
		return 0
	case f.OldMode != 0 && f.NewMode != 0 && f.OldMode&0o170000 != f.NewMode&0o170000:
		return 2
	}
	return 1
}

// modeNotes describes changes of mode and conflicts.
func modeNotes(f gitstore.FileChange) []string {
	kind := func(mode uint32) string {
		switch {
		case mode&0o170000 == 0o120000:
			return "a symbolic link"
		case mode&0o170000 == 0o160000:
			return "a submodule"
		case mode&0o111 != 0:
			return "executable"
		}
		return "a plain file"
	}
	var notes []string
	if f.OldMode != 0 && f.NewMode != 0 && f.OldMode != f.NewMode {
		notes = append(notes, "It was "+kind(f.OldMode)+" and is "+kind(f.NewMode)+".")
	} else if f.NewMode != 0 && kind(f.NewMode) != "a plain file" {
		notes = append(notes, strings.ToUpper(kind(f.NewMode)[:1])+kind(f.NewMode)[1:]+".")
	}
	if f.Status == "conflicted" {
		notes = append(notes, "In conflict at the save.")
	}
	return notes
}
