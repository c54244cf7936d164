package interchange

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
)

// maxImported limits the number of files of a directory.
const maxImported = 20_000

// A document is a file that can be imported.
type document struct {
	path    string // path as found
	file    *layout.File
	data    []byte
	key     string             // key of the related file
	trigger checkpoint.Trigger // trigger in the folder's index, or ""
	at      time.Time          // write time in the document, or zero
}

// gather reads the documents at a path, oldest first.
func (in *importing) gather(name string) ([]document, error) {
	dir, err := isFolder(name)
	if err != nil {
		return nil, err
	}
	if !dir {
		data, err := in.c.ReadInput(name)
		if err != nil {
			return nil, failure.Usagef("import: %w", err)
		}
		file := ""
		if name != "-" {
			file = filepath.ToSlash(name)
		}
		d, err := in.read(file, data)
		if err != nil {
			return nil, fmt.Errorf("import: %w", work.WithPath(err, view.QuotePath(file)))
		}
		d.path = filepath.ToSlash(name)
		return []document{d}, nil
	}
	docs, err := in.walk(name)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(docs, func(a, b document) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path))
	})
	return docs, nil
}

// isFolder reports whether a path is a directory. It returns an error for special files:
// reading a named pipe would wait for a writer.
func isFolder(name string) (bool, error) {
	if name == "-" {
		return false, nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err // the message names the path already
		}
		return false, failure.Usagef("import: %s: %w", view.QuotePath(name), err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return false, failure.Errorf(failure.Usage, "git checkpoint import - < "+view.QuoteArg(name), "import: %s: %w", view.QuotePath(name), invoke.ErrNotPlain)
	}
	return info.IsDir(), nil
}

// walk reads every file below a directory. Symlinks are not followed: the target is
// either found under its own name or is outside of the directory.
func (in *importing) walk(name string) ([]document, error) {
	var docs []document
	seen := 0
	err := filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			in.fail(filepath.ToSlash(file), err)
			return nil
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if seen++; seen > maxImported {
			return failure.Errorf(failure.Usage, "", "import: %s: more than %d files", view.QuotePath(name), maxImported)
		}
		docs = in.look(docs, filepath.ToSlash(file), d)
		return nil
	})
	return in.joined(docs), err
}

// look reads one file of a directory, if the file can be a document.
func (in *importing) look(docs []document, file string, d fs.DirEntry) []document {
	why := layout.Ignored(file)
	if !d.Type().IsRegular() {
		why = "not a regular file"
	}
	if why != "" {
		in.skip(file, why)
		return docs
	}
	data, err := in.c.ReadInput(filepath.FromSlash(file))
	if err != nil {
		in.fail(file, err)
		return docs
	}
	if i := slices.IndexFunc(docs, func(d document) bool {
		return path.Dir(d.path) == path.Dir(file) && bytes.Equal(d.data, data)
	}); i >= 0 {
		in.skip(file, "a copy of "+path.Base(docs[i].path))
		return docs
	}
	found, err := in.read(file, data)
	switch unknown, ok := errors.AsType[*layout.UnknownDocumentError](err); {
	case ok:
		in.skip(file, cmp.Or(unknown.Reason, "not a document of a known system"))
	case err != nil:
		in.fail(file, err)
	default:
		docs = append(docs, found)
	}
	return docs
}

// read reads and validates one document.
func (in *importing) read(file string, data []byte) (document, error) {
	f, err := layout.Read(in.as, file, data)
	if err != nil {
		return document{}, err
	}
	if in.relativize {
		f.Relativize(in.c.Store.Root())
	}
	info, infoErr := os.Stat(filepath.FromSlash(file))
	if infoErr == nil {
		f.LooksLocal(info.ModTime(), time.Local)
	}
	if err := work.Breaks(f, in.strict); err != nil {
		return document{}, err
	}
	d := document{path: file, file: f, data: data}
	if at, err := checkpoint.ParseTime(f.Written()); err == nil {
		d.at = at
	} else if infoErr == nil {
		d.at = f.Clock(info.ModTime())
	}
	return d, nil
}

// joined completes the documents from other files of their folder: an execution.json's
// workflow and a crunch checkpoint's trigger.
func (in *importing) joined(docs []document) []document {
	keys, indexes := map[string]string{}, map[string]map[checkpoint.ID]checkpoint.Trigger{}
	for _, d := range docs {
		if dir := path.Dir(d.path); d.file.Layout == dotagent.Name && d.file.Kind == "phase" {
			keys[dir] = d.file.Key()
		}
	}
	for i := range docs {
		d, dir := &docs[i], path.Dir(docs[i].path)
		if d.file.Sequel() {
			d.key = keys[dir]
		}
		if !d.file.Whole() {
			continue
		}
		if _, known := indexes[dir]; !known {
			var index []byte
			name := filepath.FromSlash(path.Join(dir, "index.yaml"))
			if folder, err := isFolder(name); err == nil && !folder {
				index, _ = in.c.ReadInput(name)
			}
			indexes[dir] = crunch.Triggers(index)
		}
		d.trigger = indexes[dir][d.file.ID()]
	}
	return docs
}

// applyTo returns the record of a document. If the previous record has the same layout,
// it is the starting point, because two files of a workflow form one record.
func (d document) applyTo(before *checkpoint.Record, id checkpoint.ID) *checkpoint.Record {
	if before != nil && !d.file.Whole() {
		if name, _ := before.Doc().Lookup("layout.name"); name != string(d.file.Layout) {
			before = nil
		}
	}
	if before != nil {
		before.SetNote("")
		before.SetCanResume(true)
		before.SetResumeFrom("")
		before.SetWarnings(nil)
		before.Doc().Delete("files_modified")
		before.Doc().Delete("issue_snapshot")
		before.Doc().Delete("created_at")
	}
	r := d.file.Apply(before)
	if d.trigger != "" {
		r.SetTrigger(d.trigger)
	}
	if d.file.Whole() {
		return r
	}
	r.SetID(id)
	if !d.at.IsZero() {
		r.SetCreatedAt(d.at)
	}
	if r.ResumeFrom() == "" {
		r.SetResumeFrom(progress.DefaultCode(r))
	}
	return r
}

// failed reports whether the file is in the folder of failed workflows of its system.
func (d document) failed() bool {
	return d.file.Layout == claude.Name && path.Base(path.Dir(d.path)) == failedFolder
}

// inProgress reports whether the document is the current state of a workflow that is not
// over. Complete records and the sessions of other tools describe an earlier time.
func (d document) inProgress() bool {
	if d.file.Whole() || d.failed() || slices.Contains(layout.Sources(), d.file.Layout) {
		return false
	}
	return !progress.Over(d.applyTo(nil, ""))
}
