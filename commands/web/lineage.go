package web

import (
	"cmp"
	"errors"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// Limits of a tree of forks.
const (
	maxForks     = 60 // issues
	maxForkDepth = 8  // forks of forks
)

// A ForkNode is an issue in the tree of forks, with the values of compare.
type ForkNode struct {
	Label, URL string
	Title      string       // of the newest checkpoint
	Here       bool         // the issue of the page
	Gone       bool         // the issue has no live checkpoint
	From       Link         // checkpoint from which the issue was forked
	Attempt    view.Attempt // since then
	At         Stamp        // of the newest checkpoint
	Forks      []ForkNode
}

// forks returns the tree of forks with an issue, or nil without forks. r is the record of its newest
// checkpoint.
func (v *visit) forks(i checkpoint.Issue, r *checkpoint.Record) *ForkNode {
	root, f := i, r.Fork()
	if forks, _ := v.repo.Forks(v.ctx, i); f.Issue == "" && len(forks) == 0 {
		return nil
	}
	for depth := 0; f.Issue != "" && depth < maxForkDepth; depth++ {
		root = f.Issue
		_, of, err := v.repo.PointRecord(v.ctx, root)
		if err != nil {
			break
		}
		f = of.Fork()
	}
	left := maxForks
	n := v.forkNode(root, i, 0, &left)
	return &n
}

// forkNode returns the node of an issue with its forks. here is the issue of the page, left the
// number of further nodes.
func (v *visit) forkNode(i, here checkpoint.Issue, depth int, left *int) ForkNode {
	*left--
	n := ForkNode{Label: issueLabel(i), URL: v.links.issue(i), Here: i == here, Attempt: view.Attempt{Since: -1}}
	p, r, err := v.repo.PointRecord(v.ctx, i)
	switch {
	case err == nil:
		e, f := v.single(p.Checkpoint), r.Fork()
		a := work.Attempt(v.ctx, v.repo.Store, p.Checkpoint, r, f)
		n.Title, n.At, n.Attempt = e.Title, e.At, *a
		if f.Issue == "" {
			break
		}
		if a.Since == 0 {
			n.Title = "" // only the fork itself, which From names
		}
		n.From = Link{Text: view.CutBytes(f.ID.Short(), 24)}
		if source, err := v.repo.ByID(v.ctx, f.Issue, f.ID); err == nil {
			from := v.single(source)
			n.From = Link{cmp.Or(from.Who(), from.Title), from.URL}
		}
	case errors.As(err, new(*gitstore.NoneError)):
		n.Gone, n.URL = true, ""
	}
	forks, _ := v.repo.Forks(v.ctx, i)
	for _, fork := range forks {
		if depth < maxForkDepth && *left > 0 {
			n.Forks = append(n.Forks, v.forkNode(fork, here, depth+1, left))
		}
	}
	return n
}
