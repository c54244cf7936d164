package interchange

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
)

// An exporting holds the state of one export.
type exporting struct {
	c *invoke.Invocation
	exportOptions
	issue     checkpoint.Issue
	root      string // directory that paths must not escape
	below     string // folder in root, with slashes
	dir       *os.Root
	written   []string
	unchanged []string
	others    []string // workflows whose files are moved to .archive
}

// write checks all existing files first, and then writes either all files or no file.
func (x *exporting) write(files []layout.Output) (err error) {
	if x.root, x.below, err = x.folder(); err != nil {
		return err
	}
	if err := x.open(); err != nil {
		return err
	}
	defer x.dir.Close()
	todo, err := x.plan(files)
	if err != nil {
		return err
	}
	if len(x.others) > 0 { // the files of another dotagent workflow go to that system's archive
		to := mirror.ArchiveFolder(x.below, x.others[0], x.c.Env.Now())
		if err := mirror.MoveToArchive(x.dir, x.below, to); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		x.c.Warnf("the files of %s are in %s now", x.others[0], view.QuotePath(to))
	}
	for _, f := range todo {
		if err := x.keepFormer(f); err != nil {
			return fmt.Errorf("export is incomplete: %s: %w", view.QuotePath(f.Path), err)
		}
		if err := mirror.Replace(x.dir, path.Join(x.below, f.Path), f); err != nil {
			return fmt.Errorf("export is incomplete: %s: %w", view.QuotePath(f.Path), err)
		}
		x.written = append(x.written, f.Path)
	}
	return nil
}

// open creates and opens the target directory.
func (x *exporting) open() error {
	if err := x.checkPlace(); err != nil {
		return err
	}
	err := os.MkdirAll(x.root, 0o777)
	if err == nil {
		x.dir, err = os.OpenRoot(x.root)
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// keepFormer stores a copy of a file before its replacement, because a user may have
// edited it.
func (x *exporting) keepFormer(f layout.Output) error {
	info, err := x.dir.Lstat(path.Join(x.below, f.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return nil // a symlink, whose target stays
	}
	was, err := atomicfile.Read(filepath.Join(x.root, filepath.FromSlash(path.Join(x.below, f.Path))))
	if err != nil || crunch.IsIndex([]byte(was.Text)) {
		return err // an index is generated from the other files
	}
	kept, err := work.KeepFormer(x.c, was)
	if err == nil {
		x.c.Infof("%s as it was: %s", view.QuotePath(f.Path), view.QuotePath(kept))
	}
	return err
}

// plan returns the files to write. Files of another format are an error, unless --force
// is set.
func (x *exporting) plan(files []layout.Output) ([]layout.Output, error) {
	var todo []layout.Output
	var inTheWay []string
	for _, f := range files {
		switch same, ours, err := x.there(f); {
		case errors.Is(err, fs.ErrNotExist):
			todo = append(todo, f)
		case err != nil:
			return nil, fmt.Errorf("export: %w", err)
		case same:
			x.unchanged = append(x.unchanged, f.Path)
		case !ours && !x.force:
			inTheWay = append(inTheWay, f.Path)
		default:
			todo = append(todo, f)
		}
	}
	if len(inTheWay) > 0 {
		return nil, &gitstore.RefusedError{
			Reason: fmt.Sprintf("export: existing files are not from an export: %s", view.List(view.QuotePaths(inTheWay))),
			Hint:   "git checkpoint export " + view.IssueArg(x.issue) + " --as " + string(x.as) + " --force",
		}
	}
	return todo, nil
}

// there reports whether the existing file at the path of f is the same, or of an export.
func (x *exporting) there(f layout.Output) (same, ours bool, err error) {
	name := path.Join(x.below, f.Path)
	info, err := x.dir.Lstat(name)
	switch {
	case err != nil:
		return false, false, err
	case f.Link != "":
		to, err := x.dir.Readlink(name)
		return err == nil && to == f.Link, !info.IsDir(), nil
	case !info.Mode().IsRegular():
		return false, false, nil
	}
	data, err := x.dir.ReadFile(name)
	if err != nil || bytes.Equal(data, f.Data) {
		return err == nil, false, err
	}
	return false, x.replaceable(f, data), nil
}

// replaceable reports whether data is another version of the document f. A dotagent file
// of another workflow, or of an earlier start of the workflow, is replaceable too; its key
// is added to x.others.
func (x *exporting) replaceable(f layout.Output, data []byte) bool {
	if crunch.IsIndex(data) && crunch.IsIndex(f.Data) {
		return true
	}
	was, err := layout.Read(x.as, f.Path, data)
	if err != nil || was.Err(false) != nil {
		return false
	}
	now, err := layout.Read(x.as, f.Path, f.Data)
	if err != nil {
		return false
	}
	before, at := was.Doc.Text("started_at"), now.Doc.Text("started_at")
	isOther := was.Key() != now.Key() || before != "" && at != "" && before != at
	if x.as == dotagent.Name && isOther {
		x.others = append(x.others, was.Key())
		return true
	}
	return was.Key() == now.Key()
}

// checkPlace returns an error if the target is inside a git directory, because git would
// treat the exported files as its own.
func (x *exporting) checkPlace() error {
	abs, err := filepath.Abs(filepath.Join(x.root, filepath.FromSlash(x.below)))
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	isGits := func(name string) bool { return name != "" && gitstore.CheckPlace(name) != nil }
	if x.c.Store.Files.Boundary(x.c.Ctx).FindPlace(abs).Reason == "" &&
		!slices.ContainsFunc(strings.Split(filepath.ToSlash(invoke.Resolved(abs)), "/"), isGits) {
		return nil
	}
	return failure.Errorf(failure.Usage, fmt.Sprintf("git checkpoint export %s --as %s --dir DIR", view.IssueArg(x.issue), x.as),
		"export: %s is inside git's directory", view.QuotePath(filepath.ToSlash(filepath.Join(x.root, filepath.FromSlash(x.below)))))
}
