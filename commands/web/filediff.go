package web

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/view"
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
	gitstore.FileChange
	Letter string
	Anchor string
	Notes  []string
	Lines  []DiffLine
	Folded bool
	More   string // note about omitted lines, or ""
	URL    string // URL of the complete diff
	Blame  string // URL of the page about the lines, or ""
	Back   string // URL that asks whether to restore this file, or ""
}

// A DiffLine is one line of a patch.
type DiffLine struct {
	Kind     string // same, add, del or note, or gap between two hunks
	Old, New int    // line numbers; 0 if absent
	Text     string
}

// A budget limits shown lines per page and per file.
type budget struct{ page, file int }

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
		d := FileDiff{FileChange: f, Letter: strings.ToUpper(f.Status[:1]), Anchor: fmt.Sprintf("f%d", i+1), Notes: notes(f)}
		n := min(patchesOf(f), len(sections))
		for _, section := range sections[:n] {
			lines, cut := patchLines(section, min(b.page, b.file))
			b.page -= len(lines)
			if d.Lines = append(d.Lines, lines...); cut {
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

// patchLines returns up to limit lines of a file's patch by git, and whether it has more. Text
// before the first hunk describes the file.
func patchLines(patch string, limit int) (lines []DiffLine, cut bool) {
	old, now, within := 0, 0, false
	for text := range strings.Lines(patch) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case strings.HasPrefix(text, "@@ "):
			_, after, _ := strings.Cut(text, " +")
			_, _ = fmt.Sscanf(text, "@@ -%d", &old)
			_, _ = fmt.Sscanf(after, "%d", &now)
			if within = true; len(lines) > 0 {
				lines = append(lines, DiffLine{Kind: "gap"})
			}
			continue
		case !within || text == "":
			continue
		case len(lines) >= limit:
			return lines, true
		}
		l := DiffLine{Kind: "note", Text: view.CutBytes(text[1:], maxText)} // such as "\ No newline at end of file"
		switch text[0] {
		case '+':
			l.Kind, l.New = "add", now
			now++
		case '-':
			l.Kind, l.Old = "del", old
			old++
		case ' ':
			l.Kind, l.Old, l.New = "same", old, now
			old, now = old+1, now+1
		}
		lines = append(lines, l)
	}
	return lines, false
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

// notes describes changes of mode, binary files and conflicts.
func notes(f gitstore.FileChange) (list []string) {
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
	switch {
	case f.OldMode != 0 && f.NewMode != 0 && f.OldMode != f.NewMode:
		list = append(list, "It was "+kind(f.OldMode)+" and is "+kind(f.NewMode)+".")
	case f.NewMode != 0 && kind(f.NewMode) != "a plain file":
		list = append(list, "It is "+kind(f.NewMode)+".")
	}
	if !f.Counted && patchesOf(f) > 0 {
		list = append(list, "A binary file.")
	}
	if f.Status == "conflicted" {
		list = append(list, "In conflict at the save.")
	}
	return list
}
