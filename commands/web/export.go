package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
)

// An Exported is the content of an exported file.
type Exported struct {
	Notes  []string
	Issues *Issues
	Chains []ExportChain
}

// An ExportChain is an issue with its exported checkpoints.
type ExportChain struct {
	Anchor      string
	Issue       *IssuePage
	Checkpoints []*CheckpointPage // with their changes
}

// Limits of an exported file.
const (
	maxExported = 20  // issues per file
	exportLine  = 200 // checkpoints per timeline
	exportWhole = 20  // checkpoints per issue with record and diff
	exportLines = 400 // changed lines per checkpoint

	maxSite = 2000 // issues of a site
)

// Export passes the complete page of issues to write; an empty list means all issues. For a site, it
// passes the list of issues and a page for each issue, with their file names. It returns notes about
// content omitted because of limits or read errors.
func Export(ctx context.Context, write func(name string, page io.Reader) error, repo *Repository, o Options, issues []checkpoint.Issue, site bool) ([]string, error) {
	o.Write = false
	v := &visit{site: newSite(o), ctx: ctx, r: &http.Request{URL: &url.URL{}}, repo: repo, links: links{file: true, site: site}}
	put := func(name, title string, x *Exported) error {
		p := v.page(title)
		p.File, p.Export = true, x
		page, err := render("page", p)
		if err != nil {
			return err
		}
		return write(name, strings.NewReader(page))
	}
	x, listed, most := &Exported{}, maxIssues, maxExported
	if site {
		listed, most = maxSite, maxSite
	}
	if site || len(issues) == 0 {
		all, _, err := v.allIssues(1, listed)
		if err != nil {
			return nil, err
		}
		if len(issues) > 0 {
			all.Rows = slices.DeleteFunc(all.Rows, func(row IssueRow) bool { return !slices.Contains(issues, row.issue) })
			all.Archived, all.Left = nil, 0
		}
		issues = view.Each(all.Rows[:min(len(all.Rows), most)], func(row IssueRow) checkpoint.Issue { return row.issue })
		for i := range all.Rows[len(issues):] {
			all.Rows[len(issues)+i].URL = ""
		}
		switch x.Issues = all; {
		case site && all.Left > 0:
			x.Notes = []string{"Only the newest " + view.Plural(maxSite, "issue") + " are on this site."}
		case len(all.Rows) > most:
			x.Notes = []string{"Only the newest " + view.Plural(most, "issue") + " of " + strconv.Itoa(len(all.Rows)) + " have their checkpoints in this file."}
		}
	}
	var notes []string // of the pages of a site
	for _, i := range issues {
		of := x
		if site {
			of = &Exported{}
		}
		err := v.exportChain(of, i)
		if err == nil && site {
			notes = append(notes, of.Notes...)
			err = put(v.links.issue(i), "Issue "+issueLabel(i), of)
		}
		if err != nil {
			return nil, err
		}
	}
	if site {
		return slices.Concat(x.Notes, notes), put(siteIndex, "Issues", x)
	}
	return x.Notes, put("", "Checkpoints", x)
}

// siteIndex is the file of a site with the list of issues.
const siteIndex = "index.html"

// exportChain adds an issue. An unreadable issue becomes a note.
func (v *visit) exportChain(x *Exported, i checkpoint.Issue) error {
	l, err := v.repo.List(v.ctx, i, exportLine+1)
	if err == nil && len(l.Checkpoints) == 0 {
		l, err = v.repo.Archived(v.ctx, i, exportLine+1)
	}
	if err != nil {
		x.Notes = append(x.Notes, err.Error())
		return nil
	}
	if len(l.Checkpoints) == 0 {
		return &gitstore.NoneError{Issue: i}
	}
	if len(l.Checkpoints) > exportLine {
		l.Checkpoints, l.Complete = l.Checkpoints[:exportLine], false
		x.Notes = append(x.Notes, "Issue "+string(i)+": only the newest "+view.Plural(exportLine, "checkpoint")+" are in this file.")
	}
	v.links.shown = map[string]bool{}
	for i := range l.Checkpoints[:min(len(l.Checkpoints), exportWhole)] {
		v.links.shown[l.Checkpoints[i].Commit.String()] = true
	}
	chain := ExportChain{Anchor: links{file: true}.issue(i)[1:], Issue: v.issuePage(l, Filter{Page: 1}, l.Checkpoints[0].Archived)}
	for at := range l.Checkpoints[:min(len(l.Checkpoints), exportWhole)] {
		c := &l.Checkpoints[at]
		m := v.checkpointPage(place{l, at}, false)
		older, _ := v.repo.Store.Lineage(v.ctx, l).Before(at)
		m.Older, m.Newer, m.Changes = nil, nil, v.diffPage(older, c, budget{exportLines, exportLines}, nil)
		for i := range m.Changes.Files {
			m.Changes.Files[i].Anchor = "c-" + m.Commit + "-" + m.Changes.Files[i].Anchor
		}
		chain.Checkpoints = append(chain.Checkpoints, m)
	}
	chain.Issue.Timeline.Newer, chain.Issue.Timeline.Older = "", "" // the file has no other page
	if !v.links.site {
		chain.Issue.Forks = nil // their pages can be missing
	}
	x.Chains = append(x.Chains, chain)
	return v.ctx.Err()
}

// Put writes a file. A regular file is replaced atomically. An existing file of another
// kind, such as /dev/stdout or a pipe, is opened and written.
func Put(file string, r io.Reader) error {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Close())
	}
	options := fsutil.ReplaceOptions{Mode: 0o666, Sync: true}
	if err == nil {
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return err
		}
		options.Prepare = func(temp *os.File) error { return temp.Chmod(info.Mode().Perm()) }
	}
	options.Temp = filepath.Base(file) + "."
	return fsutil.ReplaceFile(file, r, options)
}
