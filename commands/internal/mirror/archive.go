package mirror

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"sync"
	"time"

	"git-checkpoint/gitstore/layout"
)

// dotagentFiles are the files of a dotagent workflow.
var dotagentFiles = []string{"phase.json", "execution.json"}

// archived matches the name of a folder in .archive: a workflow and a time.
var archived = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^.+_([0-9]{8}T[0-9]{6}Z)$`) })

// ArchiveFolder returns the folder for the files of an archived dotagent workflow.
func ArchiveFolder(below, workflow string, at time.Time) string {
	return path.Join(below, ".archive", layout.FileName(workflow+"_"+at.UTC().Format("20060102T150405Z")))
}

// MoveToArchive moves the files of a dotagent workflow to a folder of ArchiveFolder.
func MoveToArchive(dir *os.Root, below, to string) error {
	if err := dir.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, name := range dotagentFiles {
		err := dir.Rename(path.Join(below, name), path.Join(to, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return thinArchive(dir, path.Dir(to))
}

// WriteToArchive writes the files of a dotagent workflow to a folder of ArchiveFolder.
func (t *Tree) WriteToArchive(to string, files []layout.Output) error {
	if err := t.plain(to); err != nil {
		return err
	}
	if err := t.root.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, f := range files {
		if err := Replace(t.root, path.Join(to, f.Path), f); err != nil {
			return err
		}
	}
	return thinArchive(t.root, path.Dir(to))
}

// thinArchive removes the files of all but the newest folders, and then each folder that
// is empty.
func thinArchive(root *os.Root, archive string) error {
	dir, err := root.Open(archive)
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && archived().MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Compare(archived().FindStringSubmatch(b)[1], archived().FindStringSubmatch(a)[1])
	})
	for _, name := range names[min(len(names), 5):] { // as the dotagent system does
		for _, file := range dotagentFiles {
			_ = root.Remove(path.Join(archive, name, file))
		}
		_ = root.Remove(path.Join(archive, name)) // fails if the folder holds other files
	}
	return nil
}
