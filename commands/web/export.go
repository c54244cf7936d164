package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// An Exported is a file of its own.
type Exported struct {
	Notes  []string
	Issues *Issues
	Chains []ExportChain
}

// An ExportChain is an issue with some of its checkpoints.
type ExportChain struct {
	Anchor      string
	Issue       *IssuePage
	Checkpoints []ExportCheckpoint
}

// An ExportCheckpoint is a checkpoint with what it changed.
type ExportCheckpoint struct {
	Anchor     string
	Checkpoint *CheckpointPage
	Diff       *Diff
}

// Bounds of a file.
const (
	maxExported = 20  // issues
	exportLine  = 200 // checkpoints in a timeline
	exportWhole = 20  // checkpoints of an issue with record and diff
	exportLines = 400 // changed lines of one of these
)

// Export hands the page of some issues, or of all, to write, once it is whole.
// It returns what was left out of it, for its size.
func Export(ctx context.Context, write func(io.Reader) error, repo *Repository, o Options, issues []checkpoint.Issue) ([]string, error) {
	o.Write = false
	v := &visit{site: newSite(o), ctx: ctx, r: &http.Request{URL: &url.URL{}}, repo: repo, links: links{file: true}}
	p := v.page("Checkpoints")
	p.File = true
	var err error
	if p.Export, err = v.export(issues); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := render(&b, p); err != nil {
		return nil, err
	}
	return p.Export.Notes, write(&b)
}

// export gathers what goes into a file.
func (v *visit) export(issues []checkpoint.Issue) (*Exported, error) {
	x := &Exported{}
	if len(issues) == 0 {
		all, err := v.allIssues()
		if err != nil {
			return nil, err
		}
		for i := range all.Rows {
			if i < maxExported {
				issues = append(issues, all.Rows[i].issue)
			} else {
				all.Rows[i].URL = ""
			}
		}
		if n := len(all.Rows) - maxExported; n > 0 {
			x.Notes = append(x.Notes, count(n, "issue")+" had no room for more than a line")
		}
		x.Issues = all
	}
	for _, i := range issues {
		if err := v.exportChain(x, i); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// exportChain adds an issue. One that cannot be read is told of, where it is
// not the only one.
func (v *visit) exportChain(x *Exported, i checkpoint.Issue) error {
	l, err := v.repo.List(v.ctx, i, exportLine+1)
	if err == nil && len(l.Checkpoints) == 0 {
		l, err = v.repo.Archived(v.ctx, i, exportLine+1)
	}
	if err != nil {
		x.Notes = append(x.Notes, block(cut(err.Error(), maxText)))
		return nil
	}
	if len(l.Checkpoints) == 0 {
		return &gitstore.NoneError{Issue: i}
	}
	if len(l.Checkpoints) > exportLine {
		l.Checkpoints, l.Complete = l.Checkpoints[:exportLine], false
		x.Notes = append(x.Notes, "issue "+line(string(i))+" has more than the newest "+count(exportLine, "checkpoint")+", which had room")
	}
	chain := ExportChain{Anchor: v.links.issue(i)[1:], Issue: v.issuePage(l, Filter{Page: 1}, l.Checkpoints[0].Archived)}
	for at := range l.Checkpoints[:min(len(l.Checkpoints), exportWhole)] {
		chain.Checkpoints = append(chain.Checkpoints, v.exportCheckpoint(place{l, at}))
	}
	chain.Issue.Timeline.unlink(exportWhole)
	x.Chains = append(x.Chains, chain)
	return v.ctx.Err()
}

func (v *visit) exportCheckpoint(at place) ExportCheckpoint {
	c := at.checkpoint()
	x := ExportCheckpoint{Anchor: v.links.checkpoint(c)[1:], Checkpoint: v.checkpointPage(at, false)}
	x.Checkpoint.Older, x.Checkpoint.Newer = nil, nil
	x.Diff = v.diffPage(at.older(), c, budget{exportLines, exportLines}, nil)
	for i := range x.Diff.Files {
		x.Diff.Files[i].Anchor = x.Anchor + "-" + x.Diff.Files[i].Anchor
	}
	return x
}

// unlink takes away links to checkpoints that are not in the file, all but the
// first n, and to further pages.
func (t *Timeline) unlink(n int) {
	t.Newer, t.Older = "", ""
	for g := range t.Groups {
		for e := range t.Groups[g].Entries {
			if n--; n < 0 {
				t.Groups[g].Entries[e].URL = ""
			}
		}
	}
}

// Put writes a file, which appears whole or not at all: in the place of a file
// that is there, and into what is no file, such as /dev/stdout or a pipe, which has to stay what it is.
func Put(file string, r io.Reader) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return replace(file, r, 0)
	case info.Mode().IsRegular():
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return err
		}
		return replace(file, r, info.Mode().Perm())
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// replace puts a file in the place of what is there, in one step. mode is that
// of the file which is replaced, 0 for none.
func replace(file string, r io.Reader, mode os.FileMode) error {
	dir, name := filepath.Split(file)
	if dir == "" {
		dir = "."
	}
	temp, err := os.OpenFile(filepath.Join(dir, name+"."+rand.Text()[:8]), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(temp, r)
	if mode != 0 {
		err = errors.Join(err, temp.Chmod(mode))
	}
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}
