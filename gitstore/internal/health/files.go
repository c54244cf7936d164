package health

import (
	"fmt"
	"strings"
	"time"
)

// A FileKind says whose file it is.
type FileKind int

// The kinds of files.
const (
	RefLock   FileKind = iota // git's lock of a ref that this program moves, or of packed-refs
	IndexLock                 // git's lock of a staging area
	Temporary                 // of this program: written whole, then renamed
	Object                    // an object or a pack that was being written
)

// A LeftFile is one that a process should have removed, as long as it lives.
type LeftFile struct {
	Path string
	Kind FileKind
	At   time.Time // when it was last written
}

// How old a file has to be for its process to be surely gone. A ref is locked
// for as long as a disk takes to sync; whoever writes an object or a pack
// writes on. The index may be locked for hours, while somebody writes the
// message of a commit.
const (
	lockFor      = time.Hour
	temporaryFor = 24 * time.Hour
)

// judgeLocks looks for locks that nobody holds any more.
func judgeLocks(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		old := f.Now.Sub(file.At)
		switch {
		case old <= lockFor:
		case file.Kind == RefLock:
			found = append(found, failure("%s: a lock that a killed git left %s ago: nothing can be saved there", file.Path, age(old)).
				mended(Mend{Act: RemoveFiles, Names: []string{file.Path}, Until: f.Now.Add(-lockFor), Said: "removed the stale lock " + file.Path}))
		case file.Kind == IndexLock:
			found = append(found, warning("%s: the staging area is locked since %s: remove the file if no git is at work there", file.Path, age(old)))
		}
	}
	return found
}

// judgeTemporary looks for files that never got their final names.
func judgeTemporary(f Facts) []Finding {
	var found []Finding
	for _, kind := range []struct {
		FileKind
		what string
	}{{Temporary, "temporary file"}, {Object, "half-written object"}} {
		var names []string
		for _, file := range f.Files {
			if file.Kind == kind.FileKind && f.Now.Sub(file.At) > temporaryFor {
				names = append(names, file.Path)
			}
		}
		if len(names) == 0 {
			continue
		}
		what := fmt.Sprintf("%s of processes that are gone: %s", plural(len(names), kind.what), some(names))
		found = append(found, warning("%s", what).
			mended(Mend{Act: RemoveFiles, Names: names, Until: f.Now.Add(-temporaryFor), Said: "removed " + what}))
	}
	return found
}

func judgePending(f Facts) []Finding {
	var found []Finding
	for _, where := range f.Pending {
		found = append(found, warning("%s: a restore was interrupted there: git checkpoint restore --continue finishes it, --abort takes it back", where))
	}
	return found
}

// some names the first few of many.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
