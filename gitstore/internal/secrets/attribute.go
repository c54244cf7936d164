package secrets

import (
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// An exposedFile is a file that a push would newly expose, with its path in the tree of a
// checkpoint or of a commit.
type exposedFile struct {
	blob plumbing.Hash
	path string
}

// An attribution finds the chains that expose the files of one scan. A file belongs to each
// chain that contains it. Trees and histories that chains have in common are read once.
type attribution struct {
	s       *Scanner
	shown   exposed
	reports map[string]*report
	below   map[plumbing.Hash][]exposedFile
	history map[plumbing.Hash][]exposedFile // by the newest commit
	counts  map[string]int                  // of the commits that some HEADs reach: most issues have the same HEADs
}

// checkpoints calls f for each commit of the chain that a push would expose, newest first.
func (a *attribution) checkpoints(out chain.Outgoing, f func(repo.RawCommit) error) error {
	for _, tip := range out.Tips {
		for at := plumbing.NewHash(tip); a.shows(at); {
			c, err := a.s.repo.ReadCommit(at)
			if err == nil {
				err = f(c)
			}
			if err != nil {
				return err
			}
			if len(c.Parents) == 0 {
				break
			}
			at = c.Parents[0]
		}
	}
	return nil
}

// shows reports whether a push would expose a commit.
func (a *attribution) shows(commit plumbing.Hash) bool {
	_, ok := a.shown.commits[commit]
	return ok
}

// MaxCommits limits the number of commits that are counted for a question.
const MaxCommits = 1000

// addCommits counts the commits of the user that a chain exposes: the HEADs of its checkpoints, which
// are the first parents of state commits, and the commits that they reach.
func (a *attribution) addCommits(found *Publication, out chain.Outgoing) error {
	heads := map[plumbing.Hash]int{}
	err := a.checkpoints(out, func(c repo.RawCommit) error {
		if len(c.Parents) < 2 {
			return nil
		}
		state, err := a.s.repo.ReadCommit(c.Parents[1])
		if err != nil || len(state.Parents) == 0 {
			return err
		}
		head := state.Parents[0]
		if place, ok := a.shown.commits[head]; ok && !a.s.chain.IsGenesis(head) {
			heads[head] = place
		}
		return nil
	})
	if err != nil || len(heads) == 0 {
		return err
	}
	list := slices.SortedFunc(maps.Keys(heads), func(x, y plumbing.Hash) int { return heads[x] - heads[y] })
	found.Unpublished = list[0].String()
	key := fmt.Sprint(list)
	if _, known := a.counts[key]; !known {
		if a.counts[key], err = a.count(list); err != nil {
			return err
		}
	}
	found.Commits = a.counts[key]
	return nil
}

// count returns the number of exposed commits that heads reach, at most MaxCommits.
func (a *attribution) count(heads []plumbing.Hash) (int, error) {
	seen, todo := map[plumbing.Hash]bool{}, heads
	for len(todo) > 0 && len(seen) < MaxCommits {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] || !a.shows(at) {
			continue
		}
		seen[at] = true
		c, err := a.s.repo.ReadCommit(at)
		if err != nil {
			return 0, err
		}
		todo = append(todo, c.Parents...)
	}
	return len(seen), nil
}

// addUntracked lists the untracked files that a chain exposes: those of a state that are neither
// staged nor in HEAD.
func (a *attribution) addUntracked(found *Publication, out chain.Outgoing) error {
	objects := a.s.repo.Objects
	find := &trees.Finder{Reader: objects}
	return a.checkpoints(out, func(c repo.RawCommit) error {
		if _, shown := a.shown.paths[c.Tree.String()]; !shown {
			return nil
		}
		entries, err := trees.Read(objects, c.Tree)
		if err != nil {
			return err
		}
		unstaged, err := trees.Diff(objects, trees.HashOf(entries, "staged"), trees.HashOf(entries, "state"))
		if err != nil || len(unstaged) == 0 {
			return err
		}
		var head plumbing.Hash
		if state, err := a.s.chain.StateCommitOf(c); err == nil && !state.Head.IsZero() {
			head, _ = a.s.repo.TreeOfCommit(state.Head) // a shallow clone may lack it
		}
		for _, change := range unstaged {
			_, shown := a.shown.paths[change.New.Hash.String()]
			if !shown || change.New.Mode == trees.ModeGitlink || !change.Old.Hash.IsZero() {
				continue
			}
			if !head.IsZero() {
				if mode, _, err := find.Lookup(head, change.Path); err == nil && mode != 0 {
					continue
				}
			}
			found.addUntracked(change.Path)
		}
		return nil
	})
}

// files returns the files with a report that a chain exposes. Of several paths of a file it
// returns the one in the newest checkpoint.
func (a *attribution) files(out chain.Outgoing) ([]exposedFile, error) {
	var list fileList
	var states []plumbing.Hash
	err := a.checkpoints(out, func(c repo.RawCommit) error {
		if len(c.Parents) > 1 {
			states = append(states, c.Parents[1])
		}
		if _, shown := a.shown.paths[c.Tree.String()]; !shown {
			return nil
		}
		files, err := a.filesBelow(c.Tree)
		list.add("", files)
		return err
	})
	if err != nil || len(a.reports) == 0 {
		return list.files, err
	}
	for _, state := range states {
		files, err := a.filesSince(state)
		if err != nil {
			return nil, err
		}
		list.add("", files)
	}
	return list.files, nil
}

// filesBelow returns the exposed files with a report below a tree, each once.
func (a *attribution) filesBelow(tree plumbing.Hash) ([]exposedFile, error) {
	if files, known := a.below[tree]; known {
		return files, nil
	}
	entries, err := trees.Read(a.s.repo.Objects, tree)
	if err != nil {
		return nil, err
	}
	var list fileList
	for _, e := range entries {
		hex := e.Hash.String()
		_, shown := a.shown.paths[hex]
		switch {
		case !shown || e.Mode == trees.ModeGitlink:
		case e.IsTree():
			files, err := a.filesBelow(e.Hash)
			if err != nil {
				return nil, err
			}
			list.add(e.Name+"/", files)
		case a.reports[hex] != nil:
			list.add("", []exposedFile{{e.Hash, e.Name}})
		}
	}
	a.below[tree] = list.files
	return list.files, nil
}

// filesSince returns the files with a report in the exposed history of a commit.
func (a *attribution) filesSince(head plumbing.Hash) ([]exposedFile, error) {
	if files, known := a.history[head]; known {
		return files, nil
	}
	var list fileList
	seen, todo := map[plumbing.Hash]bool{}, []plumbing.Hash{head}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if seen[at] || !a.shows(at) {
			continue
		}
		seen[at] = true
		c, err := a.s.repo.ReadCommit(at)
		if err != nil {
			return nil, err
		}
		files, err := a.filesBelow(c.Tree)
		if err != nil {
			return nil, err
		}
		list.add("", files)
		todo = append(todo, c.Parents...)
	}
	a.history[head] = list.files
	return list.files, nil
}

// A fileList contains each blob once.
type fileList struct {
	files []exposedFile
	has   map[plumbing.Hash]bool
}

func (l *fileList) add(dir string, files []exposedFile) {
	for _, f := range files {
		if l.has[f.blob] {
			continue
		}
		if l.has == nil {
			l.has = map[plumbing.Hash]bool{}
		}
		l.has[f.blob] = true
		l.files = append(l.files, exposedFile{f.blob, dir + f.path})
	}
}
