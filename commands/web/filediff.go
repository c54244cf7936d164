package web

import (
	"bytes"
	"fmt"
	"strings"

	"git-checkpoint/gitstore"
)

// Bounds of a page with patches.
const (
	maxPatch     = 4 << 20 // bytes that git may say
	maxDiffFiles = 300
	maxDiffLines = 6000 // on one page
	maxFileLines = 800  // of one file, where it is not shown alone
)

// A FileDiff is a file that changed.
type FileDiff struct {
	Path, Was      string // Was where it was renamed
	Status, Letter string
	Anchor         string
	Added, Removed int
	Notes          []string
	Hunks          []Hunk
	More           string // what is left out, "" for nothing
	URL            string // where all of it is

	paths []string
}

// A budget is how many lines may still be shown, on the page and of a file.
type budget struct{ page, file int }

// spend takes lines for a file.
func (b *budget) spend() int { return max(0, min(b.page, b.file)) }

// letter is git's for a status.
func letter(status string) string {
	switch status {
	case "typechange":
		return "T"
	case "conflicted":
		return "U"
	}
	return strings.ToUpper(cut(status, 1))
}

// fileDiffs puts the list of files and git's patches together, which are in
// one order. whole says that the patch was not cut.
func fileDiffs(files []gitstore.FileChange, patch []byte, whole bool, b *budget) (list []FileDiff, left int) {
	sections := splitPatch(patch)
	if want := 0; whole {
		for _, f := range files {
			want += patchesOf(f)
		}
		if want != len(sections) {
			sections = nil // better none than another file's
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

// fill shows a file's patches.
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

// splitPatch cuts a patch where a file begins: a line of a file begins with a
// sign, and a name with an end of line in it is quoted, so that neither looks
// like it.
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

// takeSections takes what belongs to a file: nothing where it is in conflict
// alone, two patches where it became something else.
func takeSections(sections *[][]byte, f gitstore.FileChange) [][]byte {
	n := min(patchesOf(f), len(*sections))
	mine := (*sections)[:n]
	*sections = (*sections)[n:]
	return mine
}

// patchesOf is how many patches git makes of a file that changed.
func patchesOf(f gitstore.FileChange) int {
	switch {
	case f.OldMode == 0 && f.NewMode == 0:
		return 0
	case f.OldMode != 0 && f.NewMode != 0 && f.OldMode&0o170000 != f.NewMode&0o170000:
		return 2
	}
	return 1
}

// head is what stands before the lines of a patch.
func head(section []byte) []byte {
	if i := bytes.Index(section, []byte("\n@@ ")); i >= 0 {
		return section[:i]
	}
	return section
}

// sums counts the lines that a patch adds and removes.
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

// modeNotes say what else than lines changed.
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
