package doctor

import (
	"context"

	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A loading says which objects load reads.
type loading struct {
	deep   bool                                          // read blobs; otherwise only find out whether they exist
	sound  map[plumbing.Hash]bool                        // objects to leave out
	isKept func(tree plumbing.Hash, name string) bool    // whether the content of a blob is read and held
	next   func(c repo.RawCommit) (next []plumbing.Hash) // objects to read after a commit
}

// load reads commits and what follows them, with all objects below trees, in one git process. The
// database holds the objects until its next Hold.
func (s *Doctor) load(ctx context.Context, roots []plumbing.Hash, l loading) (map[plumbing.Hash]*odb.Object, error) {
	loaded := map[plumbing.Hash]*odb.Object{}
	asked, kept := map[plumbing.Hash]bool{trees.Empty: true}, map[plumbing.Hash]bool{}
	var found []plumbing.Hash // blobs to look for
	first := func(hashes []plumbing.Hash) (news []plumbing.Hash) {
		for _, h := range hashes {
			if !asked[h] && (!l.sound[h] || kept[h]) {
				asked[h] = true
				news = append(news, h)
			}
		}
		return news
	}
	err := s.repo.Objects.Walk(ctx, first(roots), func(o *odb.Object) (next []plumbing.Hash) {
		loaded[o.Hash] = o
		switch o.Kind {
		case plumbing.CommitObject:
			if c, err := repo.ParseCommit(o.Hash, o.Content); err == nil {
				next = l.next(c)
			}
		case plumbing.TreeObject:
			entries, _ := trees.Parse(o.Content)
			for _, e := range entries {
				kept[e.Hash] = kept[e.Hash] || l.isKept(o.Hash, e.Name)
				switch {
				case e.Mode == trees.ModeGitlink:
				case e.IsTree() || l.deep || kept[e.Hash]:
					next = append(next, e.Hash)
				default:
					found = append(found, e.Hash)
				}
			}
		case plumbing.BlobObject:
			if !kept[o.Hash] {
				o.Content = nil
			}
		}
		return first(next)
	})
	if found = first(found); err == nil && len(found) > 0 && !repository.Partial(s.repo.Config) {
		var missing map[plumbing.Hash]bool
		missing, err = s.repo.Objects.Missing(ctx, found)
		for _, h := range found {
			loaded[h] = &odb.Object{Hash: h, Kind: plumbing.BlobObject}
			if missing[h] {
				loaded[h].Err = plumbing.ErrObjectNotFound
			}
		}
	}
	s.repo.Objects.Hold(loaded)
	return loaded, err
}
