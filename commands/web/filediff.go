package web

import (
	"bytes"
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
	Added, Removed int
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

// letter returns git's letter for a status.
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
	sections := splitPatch(patch)
	if want := 0; whole {
		for _, f := range files {
			want += patchesOf(f)
		}
		if want != len(sections) {
			sections = nil // avoids showing another file's patch
		}
	}
	for i, f := range files {
		mine := takeSections(&sections, f)
		if len(list) == maxDiffFiles {
			left = len(files) - i
			break
		}
		d := FileDiff{
			Path: line(cut(f.Path, maxText)), Was: line(cut(f.From, maxText)), Status: f.Status, Letter: letter(f.Status),
			Anchor: fmt.Sprintf("f%d", i+1), Notes: modeNotes(f), paths: []string{f.Path},
		}
		if f.From != "" {
			d.paths = append(d.paths, f.From)
		}
		d.fill(mine, b)
		if !whole && len(sections) == 0 {
			d.More = "The rest of the diff is too long for a page: show this file alone"
		}
		list = append(list, d)
	}
	return list, left
}

// fill adds a file's patches within the budget.
func (d *FileDiff) fill(sections [][]byte, b *budget) {
	for _, s := range sections {
		if bytes.Contains(head(s), []byte("\nBinary files ")) {
			d.Notes = append(d.Notes, "A binary file.")
			continue
		}
		added, removed := sums(s)
		d.Added, d.Removed = d.Added+added, d.Removed+removed
		limit := b.spend()
		hunks, cut := parsePatch(string(s), limit)
		shown := 0
		for _, h := range hunks {
			shown += len(h.Lines)
		}
		b.page -= shown
		d.Hunks = append(d.Hunks, hunks...)
		if cut {
			d.More = "More lines changed: show this file alone"
		}
	}
}

// splitPatch splits a patch before each "diff --git" line. Content lines begin with a
// sign, and paths with newlines are quoted, so that neither can look like this line.
func splitPatch(patch []byte) [][]byte {
	const begin = "diff --git "
	var sections [][]byte
	for len(patch) > 0 {
		end := bytes.Index(patch[1:], []byte("\n"+begin))
		if end < 0 {
			return append(sections, patch)
		}
		sections = append(sections, patch[:end+2])
		patch = patch[end+2:]
	}
	return sections
}

// takeSections removes and returns the sections of a file: no section if the file is only
// in conflict, two sections for a type change.
func takeSections(sections *[][]byte, f gitstore.FileChange) [][]byte {
	n := min(patchesOf(f), len(*sections))
	mine := (*sections)[:n]
	*sections = (*sections)[n:]
	return mine
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

// head returns the part of a patch before its first hunk.
func head(section []byte) []byte {
	if i := bytes.Index(section, []byte("\n@@ ")); i >= 0 {
		return section[:i]
	}
	return section
}

// sums counts added and removed lines of a patch.
func sums(section []byte) (added, removed int) {
	in := false
	for text := range bytes.Lines(section) {
		switch {
		case bytes.HasPrefix(text, []byte("@@ ")):
			in = true
		case in && text[0] == '+':
			added++
		case in && text[0] == '-':
			removed++
		}
	}
	return added, removed
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
