package restore

import (
	"context"
	"maps"
	"slices"
	"sync"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git/ancestry"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A past has the versions of paths that the plan for one checkpoint compares: those that the
// worktree last agreed on, and those in checkpoints and commits.
type past struct {
	find  *trees.Finder
	ahead func([]plumbing.Hash) // reads objects at once
	log   ancestry.Log
	then  string // commit of HEAD at the save, "" if unborn
	now   string // commit of HEAD, "" if unborn
	head  plumbing.Hash
	here  *chain.Here                 // files of the last agreement
	with  map[checkpoint.ID]agreement // of the worktree with the checkpoints of here
	roots func() map[plumbing.Hash]stored

	since    *contents.Contents                   // limits the plan to the changes since these files, or nil
	history  map[string]map[ancestry.Version]bool // versions in the history of then, by path
	newer    map[string]map[ancestry.Version]bool // versions in the commits since
	renames  func() map[string]string             // of files by the commits since
	found    map[pathVersion]stored               // of storedAt, without the history of commits
	diverged bool                                 // HEAD does not contain HEAD at the save
}

// An agreement is that of a worktree with a checkpoint. The zero agreement is unset.
type agreement struct {
	origin relation        // of the checkpoint to the restored one
	files  *contents.Files // of the checkpoint
	common *contents.Files // of the newest checkpoint that both came after, or nil
}

type pathVersion struct {
	path string
	Side
}

// maxKnown limits the checkpoints whose content is known, and so the memory for their trees.
const maxKnown = 200

// pastOf returns the past for the restore of a checkpoint. since limits the restore to the changes
// since a checkpoint, which is the base then, or is nil.
func (s *Restorer) pastOf(ctx context.Context, req *RestoreRequest, of, since *contents.Contents, then plumbing.Hash) (*past, error) {
	c := req.Checkpoint
	head, err := s.repo.ReadHead(ctx)
	if err != nil {
		return nil, err
	}
	p := &past{find: &trees.Finder{Reader: s.repo.Objects}, ahead: s.repo.Objects.ReadAhead, log: s.facts.History(), since: since, found: map[pathVersion]stored{}, with: map[checkpoint.ID]agreement{}}
	p.log.Git.Dir = s.repo.Info.Root
	if p.head, err = s.repo.TreeOf(head); err != nil {
		return nil, err
	}
	if !head.Commit.IsZero() {
		p.now = head.Commit.String()
	}
	if !then.IsZero() {
		p.then = then.String()
	}
	p.renames = sync.OnceValue(func() map[string]string {
		if p.then == "" || p.now == "" || p.then == p.now {
			return nil
		}
		renames, _ := p.log.Renames(ctx, p.then, p.now) // without them, the file is gone
		return renames
	})
	p.roots = sync.OnceValue(func() map[plumbing.Hash]stored { return s.rootsOf(ctx, c) })
	if since != nil {
		files, err := contents.Gather(s.repo.Objects, since)
		p.here = &chain.Here{StateCommit: chain.StateCommit{Tree: since.State, Staged: since.Staged}, ID: req.Since.ID}
		p.with[req.Since.ID] = agreement{origin: before, files: files}
		return p, err
	}
	p.here = s.chain.Here(ctx, c.Issue)
	for _, id := range append(slices.Collect(maps.Values(p.here.Open)), p.here.ID) {
		if _, known := p.with[id]; !known && id != "" {
			p.with[id] = s.agreementWith(ctx, id, c, of)
		}
	}
	return p, nil
}

// agreementWith returns the agreement with a checkpoint, for a restore of c. If the checkpoint is gone or
// cannot be read, the agreement is unset.
func (s *Restorer) agreementWith(ctx context.Context, id checkpoint.ID, c *chain.Checkpoint, of *contents.Contents) (a agreement) {
	open := func(other *chain.Checkpoint) *contents.Files {
		st, err := s.snapshot.OpenSnapshot(other)
		if err != nil {
			return nil
		}
		files, err := contents.Gather(s.repo.Objects, &st.Contents)
		if err != nil {
			return nil
		}
		return files
	}
	if id == c.ID {
		if files, err := contents.Gather(s.repo.Objects, of); err == nil {
			a.files, a.origin = files, equal
		}
		return a
	}
	list, last := s.snapshot.FindIn(ctx, c.Issue, id, 0)
	if last == nil {
		return a
	}
	if a.files = open(last); a.files == nil {
		return a
	}
	if a.origin = relations(list, c)(last); a.origin == beside {
		if base := list.Common(id, c.ID); base != nil {
			a.common = open(base)
		}
	}
	return a
}

// relations returns the order of the checkpoints of a chain and the restored one. If it is unknown,
// the clocks decide.
func relations(list *chain.Chain, c *chain.Checkpoint) func(other *chain.Checkpoint) relation {
	line := list.Lineage(c.ID)
	return func(other *chain.Checkpoint) relation {
		isBefore, known := line.Has(other)
		switch {
		case other.ID == c.ID:
			return equal
		case isBefore, !known && other.Clock < c.Clock:
			return before
		case !known:
			return after
		}
		if isAfter, _ := list.Lineage(other.ID).Has(c); isAfter {
			return after
		}
		return beside
	}
}

// rootsOf returns the trees of the checkpoints of c's issue, with the relation of the checkpoints
// to c.
func (s *Restorer) rootsOf(ctx context.Context, c *chain.Checkpoint) map[plumbing.Hash]stored {
	roots, of := map[plumbing.Hash]stored{}, map[plumbing.Hash]stored{}
	add := func(to map[plumbing.Hash]stored, tree plumbing.Hash, in stored) {
		f := to[tree] // checkpoints share what did not change
		to[tree] = stored{before: f.before || in.before, after: f.after || in.after, beside: f.beside || in.beside}
	}
	add(of, c.Tree, stored{before: true})
	for _, ref := range []string{repo.LiveRef(c.Issue), repo.ArchiveRef(c.Issue)} {
		list, err := s.chain.ReadChain(ctx, c.Issue, ref, maxKnown)
		if err != nil {
			continue // an unreadable chain knows no version
		}
		relation, all := relations(list, c), list.Checkpoints()
		for i := range all[:min(len(all), maxKnown)] {
			r := relation(&all[i])
			add(of, all[i].Tree, stored{before: r == equal || r == before, after: r == after, beside: r == beside})
		}
	}
	s.repo.Objects.ReadAhead(slices.Collect(maps.Keys(of)))
	for tree, in := range of {
		entries, err := trees.Read(s.repo.Objects, tree)
		if err != nil {
			continue
		}
		stages, _ := trees.Read(s.repo.Objects, trees.HashOf(entries, "conflicts"))
		for _, e := range append(stages, trees.Entry{Hash: trees.HashOf(entries, "state")}, trees.Entry{Hash: trees.HashOf(entries, "staged")}) {
			add(roots, e.Hash, in)
		}
	}
	return roots
}

// storedAt returns where a version of a path is stored. That a path is absent somewhere proves
// nothing about the absent file here.
func (p *past) storedAt(path string, f Side) (at stored) {
	if f == (Side{}) {
		return at
	}
	key := pathVersion{path, f}
	if known, ok := p.found[key]; ok {
		version := ancestry.Version(f)
		known.history, known.beside = p.history[path][version], known.beside || p.newer[path][version]
		return known
	}
	p.find.ReadAhead(p.ahead, slices.Collect(maps.Keys(p.roots())), path)
	for root, in := range p.roots() {
		if mode, hash, err := p.find.Lookup(root, path); err == nil && mode == f.Mode && hash == f.Hash {
			at.before, at.after, at.beside = at.before || in.before, at.after || in.after, at.beside || in.beside
		}
	}
	p.found[key] = at
	return p.storedAt(path, f)
}

// entriesAt is storedAt for the entries of a path in the index: each must be stored. An entry of
// git add -N has no content.
func (p *past) entriesAt(path string, entries Stages) stored {
	at := stored{before: entries[0] == contents.Intended}
	isFirst := true
	for _, e := range entries {
		if e == (Side{}) || e == contents.Intended {
			continue
		}
		in := p.storedAt(path, e)
		if isFirst {
			at = in
		}
		at = stored{at.history && in.history, at.before && in.before, at.after && in.after, at.beside && in.beside}
		isFirst = false
	}
	return at
}

func (p *past) version(tree plumbing.Hash, path string) Side {
	f, _ := contents.At(p.find, tree, path)
	return f
}

// compare sets what the past knows about the present versions of the targets. It reads the history
// of commits only for paths of which the decision can depend on it.
func (p *past) compare(ctx context.Context, targets []Target, c choices) {
	undecided, moved := map[string]bool{}, map[string]bool{}
	for i := range targets {
		t := &targets[i]
		p.compareOne(t)
		file, entry := t.versions()
		if t.later {
			continue
		}
		if t.Work && file.needsHistory(c) || t.Index && entry.needsHistory(c) {
			undecided[t.Path], undecided[t.from()] = true, true
		}
		if p.then != p.now && (t.Work && file.now != file.want && file.now == file.headNow || t.Index && entry.now != entry.want && entry.now == entry.headNow) {
			moved[t.Path] = true // a commit since may have the checkpoint's version
		}
	}
	p.history, p.newer = p.versionsOf(ctx, p.then, "", undecided), p.versionsOf(ctx, p.now, p.then, moved)
	if len(moved) > 0 && p.then != "" && p.now != "" {
		has, err := p.log.Contains(ctx, p.now, p.then)
		p.diverged = err == nil && !has
	}
	for i := range targets {
		if t := &targets[i]; undecided[t.Path] || moved[t.Path] {
			p.compareOne(t)
		}
	}
}

// versionsOf returns the versions of paths in the commits of tip, without those of except. Versions
// that git does not list in time are unknown.
func (p *past) versionsOf(ctx context.Context, tip, except string, paths map[string]bool) map[string]map[ancestry.Version]bool {
	if tip == "" || tip == except || len(paths) == 0 {
		return nil
	}
	found, _ := p.log.Versions(ctx, tip, except, slices.Sorted(maps.Keys(paths)))
	return found
}

func (p *past) compareOne(t *Target) {
	f, e, s := &t.file, &t.entry, &t.now
	f.headNow = p.version(p.head, t.Path)
	e.headNow = contents.Merged(f.headNow)
	at := t.from()
	_, isOpen := p.here.Open[at]
	work := p.with[p.here.OriginOf(at)]
	index := work
	if last := p.with[p.here.ID].files; isOpen && last != nil && last.Version(p.here.Staged, at) == last.Entry(at) {
		index = p.with[p.here.ID] // a save captured the entry, and not the file
	}
	if work.files != nil {
		f.here, f.origin = work.files.Version(p.here.Tree, at), work.origin
		if !isOpen && !work.files.Knows(at) {
			f.origin = unset
		}
	}
	if index.files != nil {
		e.here, e.origin = index.files.EntriesAt(at), index.origin
		if entry := index.files.Version(p.here.Staged, at); entry != index.files.Entry(at) {
			e.here = contents.Merged(entry)
		}
	}
	if work.common != nil {
		if common, ok := work.common.FileAt(at); ok {
			f.common = &common
		}
	}
	if index.common != nil {
		common := index.common.EntriesAt(at)
		e.common = &common
	}
	isOn := func(in stored, of relation) stored {
		in.before = in.before || of == equal || of == before
		return in
	}
	if s.Work != t.WorkWant { // an equal version needs no decision
		f.nowIn, f.hereIn = p.storedAt(at, s.Work), isOn(p.storedAt(at, f.here), work.origin)
	}
	if s.Index != t.IndexWant {
		e.nowIn, e.hereIn = p.entriesAt(at, s.Index), isOn(p.entriesAt(at, e.here), index.origin)
	}
	f.landed = p.newer[t.Path][ancestry.Version(t.WorkWant)]
	e.landed = t.IndexWant == contents.Merged(t.IndexWant[0]) && p.newer[t.Path][ancestry.Version(t.IndexWant[0])]
	f.carried = !t.Captured && t.Work && !t.clean && !t.later
	f.opaque = s.unreadable || s.ignored
	f.diverged, e.diverged = p.diverged, p.diverged
	if s.Index[0] == contents.Intended && !t.Work {
		e.nowIn = stored{} // an entry of git add -N belongs to its file
	}
}

// followRenames changes the path of each target whose file the commits since the save have renamed,
// if nothing is at its former path now. It drops other targets at the new path.
func (p *past) followRenames(targets []Target, exists func(string) bool) []Target {
	moved := map[string]bool{}
	for i := range targets {
		t := &targets[i]
		if !t.Work || t.clean || !t.WorkBase.IsRegular() || t.WorkWant == (Side{}) || p.version(p.head, t.Path) != (Side{}) || exists(t.Path) {
			continue
		}
		if name := p.renames()[t.Path]; name != "" && !slices.ContainsFunc(targets, func(o Target) bool { return o.Path == name && !o.clean && !o.later }) {
			t.oldPath, t.Path, moved[name] = t.Path, name, true
		}
	}
	return slices.DeleteFunc(targets, func(t Target) bool { return moved[t.Path] && t.oldPath == "" })
}
