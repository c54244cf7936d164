package secrets

import (
	"git-checkpoint/gitstore/internal/chain"
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
	below   map[treeKey][]exposedFile
	history map[plumbing.Hash][]exposedFile // by the newest commit
}

// A treeKey selects files below a tree: all files, or the files with a report.
type treeKey struct {
	tree plumbing.Hash
	all  bool
}

// files returns the untracked files that a chain exposes, and its other files with a report.
// Of several paths of a file it returns the one in the newest checkpoint.
func (a *attribution) files(out chain.Outgoing) ([]exposedFile, error) {
	var list fileList
	var index []plumbing.Hash
	for _, tip := range out.Tips {
		for at := plumbing.NewHash(tip); a.shown.commits[at]; {
			c, err := a.s.repo.ReadCommit(at)
			if err != nil {
				return nil, err
			}
			if err := a.addCheckpoint(&list, c.Tree); err != nil {
				return nil, err
			}
			if len(c.Parents) == 0 {
				break
			}
			index, at = append(index, c.Parents[1:]...), c.Parents[0]
		}
	}
	if len(a.reports) == 0 {
		return list.files, nil // the history of the user has no untracked files
	}
	for _, commit := range index {
		if !a.shown.commits[commit] {
			continue
		}
		c, err := a.s.repo.ReadCommit(commit)
		if err != nil {
			return nil, err
		}
		files, err := a.filesBelow(c.Tree, false)
		if err != nil {
			return nil, err
		}
		list.add("", files)
		for _, head := range c.Parents {
			if files, err = a.filesSince(head); err != nil {
				return nil, err
			}
			list.add("", files)
		}
	}
	return list.files, nil
}

// addCheckpoint adds the files in the tree of a checkpoint.
func (a *attribution) addCheckpoint(list *fileList, tree plumbing.Hash) error {
	if _, shown := a.shown.paths[tree.String()]; !shown {
		return nil
	}
	entries, err := trees.Read(a.s.repo.Objects, tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		files, err := a.entry(e, e.Name == "untracked")
		if err != nil {
			return err
		}
		list.add("", files)
	}
	return nil
}

// entry returns the files of a tree entry, with their paths from the name of the entry.
func (a *attribution) entry(e trees.Entry, all bool) ([]exposedFile, error) {
	hex := e.Hash.String()
	_, shown := a.shown.paths[hex]
	switch {
	case !shown || e.Mode == trees.ModeGitlink:
		return nil, nil
	case !e.IsTree():
		if all || a.reports[hex] != nil {
			return []exposedFile{{e.Hash, e.Name}}, nil
		}
		return nil, nil
	}
	files, err := a.filesBelow(e.Hash, all)
	var list fileList
	list.add(e.Name+"/", files)
	return list.files, err
}

// filesBelow returns the exposed files below a tree, each once.
func (a *attribution) filesBelow(tree plumbing.Hash, all bool) ([]exposedFile, error) {
	key := treeKey{tree, all}
	if files, known := a.below[key]; known {
		return files, nil
	}
	entries, err := trees.Read(a.s.repo.Objects, tree)
	if err != nil {
		return nil, err
	}
	var list fileList
	for _, e := range entries {
		files, err := a.entry(e, all)
		if err != nil {
			return nil, err
		}
		list.add("", files)
	}
	a.below[key] = list.files
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
		if seen[at] || !a.shown.commits[at] {
			continue
		}
		seen[at] = true
		c, err := a.s.repo.ReadCommit(at)
		if err != nil {
			return nil, err
		}
		files, err := a.filesBelow(c.Tree, false)
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
