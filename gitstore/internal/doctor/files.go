package doctor

import (
	"fmt"
	"strings"
	"time"
)

// A FileKind is the type of a leftover file.
type FileKind int

// The kinds of files.
const (
	RefLock   FileKind = iota // git's lock of packed-refs or of a ref that this program updates
	IndexLock                 // git's index lock
	Temporary                 // temporary file of this program, before its rename
	Object                    // partially written object or pack
)

// A LeftFile is a lock or temporary file that its process removes, unless the process was
// killed.
type LeftFile struct {
	Path string
	Kind FileKind
	At   time.Time // modification time
}

// Minimum ages of leftover files. A ref lock is held only during a sync to disk, and a
// process that writes an object or pack keeps updating the file. The index may be locked
// for hours while a user edits a commit message.
const (
	lockFor      = time.Hour
	temporaryFor = 24 * time.Hour
)

// judgeLocks reports locks of killed processes.
func judgeLocks(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		old := f.Now.Sub(file.At)
		switch {
		case old <= lockFor:
		case file.Kind == RefLock:
			found = append(found, failure("%s: a lock that a killed git left %s ago: nothing can be saved there", file.Path, age(old)).
				withFix(Fix{Act: RemoveFiles, Names: []string{file.Path}, Until: f.Now.Add(-lockFor), Said: "removed the stale lock " + file.Path}))
		case file.Kind == IndexLock:
			found = append(found, warning("%s: the staging area is locked since %s: remove the file if no git is at work there", file.Path, age(old)))
		}
	}
	return found
}

// judgeTemporary reports temporary files that were never renamed.
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
			withFix(Fix{Act: RemoveFiles, Names: names, Until: f.Now.Add(-temporaryFor), Said: "removed " + what}))
	}
	return found
}

func judgePending(f Facts) []Finding {
	var found []Finding
	for _, where := range f.Pending {
		found = append(found, warning("%s: a restore was interrupted there: git checkpoint restore --continue completes it, --abort reverts it", where))
	}
	return found
}

// some lists the first few names of many.
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
