package web

import (
	"net/url"
	"path/filepath"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// maxBlamed limits the lines of a page with the origins of lines.
const maxBlamed = 5000

// A BlamePage shows which turn or commit brought each line of a file.
type BlamePage struct {
	Path   string
	At     *TimelineEntry // checkpoint that has the file, nil for the worktree
	Now    string         // URL of the page about the file in the worktree, "" if this is it
	Blocks []BlameBlock
	Left   int // lines that are not shown
}

// A BlameBlock is a sequence of lines from one origin.
type BlameBlock struct {
	*view.Origin
	Mark  string // style of the origin
	At    Stamp
	URL   string // page of the checkpoint, or of the commit at the forge, or ""
	Lines []gitstore.BlameLine
}

// blame shows the origins of the lines of a file. The query has the path, and with at a
// checkpoint instead of the worktree. In the worktree, only files that were saved are shown.
func (v *visit) blame() error {
	i, err := v.issue()
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	path := q.Get("path")
	if !filepath.IsLocal(path) || path == "." {
		return errNoPage
	}
	m := &BlamePage{Path: path}
	req := gitstore.BlameRequest{Issue: i, Path: filepath.ToSlash(filepath.Clean(path)), Saved: true}
	crumbs := []Link{{Text: m.Path}}
	if name := q.Get("at"); name != "" {
		at, err := v.placeOf(i, name)
		if err != nil {
			return err
		}
		e := v.entry(at)
		m.At, m.Now, req.At = e, v.links.blame(i, path, ""), at.checkpoint().ID
		crumbs = append([]Link{{e.Short, e.URL}}, crumbs...)
	}
	lines, err := v.repo.Blame(v.ctx, req)
	if err != nil {
		return err
	}
	m.fill(v, lines)
	p := v.page("Lines of " + m.Path)
	p.Crumbs = v.crumbs(i, crumbs...)
	p.Blame = m
	return v.show(p)
}

func (m *BlamePage) fill(v *visit, lines []gitstore.BlameLine) {
	m.Left = max(0, len(lines)-maxBlamed)
	read := v.entries().Record
	blamed := view.BlameOf(lines[:len(lines)-m.Left], read)
	for k, l := range blamed.Lines {
		if k == 0 || blamed.Lines[k-1].Source != l.Source {
			o := blamed.Origins[l.Source]
			b := BlameBlock{Origin: o, Mark: "other", At: stamp(o.Source.Time, v.o.Now())}
			switch s := o.Source; {
			case s.NotSaved:
				b.Mark = "stop"
			case s.Checkpoint == nil:
				b.URL = v.repo.Forge.Code.CommitPage(s.Commit.String())
			default:
				b.URL, b.Mark = v.links.checkpoint(s.Checkpoint), view.Category(s.Checkpoint)
			}
			m.Blocks = append(m.Blocks, b)
		}
		b := &m.Blocks[len(m.Blocks)-1]
		b.Lines = append(b.Lines, l)
	}
}

// blame returns the URL of the page about the lines of a file at a checkpoint, given by its name in
// URLs, or in the worktree if at is "". It is "" in an exported file.
func (l links) blame(i checkpoint.Issue, path, at string) string {
	if l.file {
		return ""
	}
	q := url.Values{"path": {path}}
	if at != "" {
		q.Set("at", at)
	}
	return l.issue(i) + "/blame?" + q.Encode()
}
