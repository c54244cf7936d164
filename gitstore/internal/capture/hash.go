package capture

import (
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/internal/git/convert"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// hash sets blob hashes: symlinks by target, regular files after git's clean filters.
func (c *capture) hash(root *os.Root, files []trees.FileEntry) error {
	var regular []int
	var paths []string
	for i := range files {
		if files[i].Mode != trees.ModeSymlink {
			regular, paths = append(regular, i), append(paths, files[i].Path)
		} else if target, err := root.Readlink(filepath.FromSlash(files[i].Path)); err == nil {
			files[i].Hash = plumbing.ComputeHash(plumbing.BlobObject, []byte(target))
		}
	}
	h := convert.New(c.Git, c.Config, c.CommonDir, root)
	h.Staged = c.mayConvert
	hashes, err := h.Hash(c.ctx, paths)
	if err != nil {
		return err
	}
	for n, i := range regular {
		files[i].Hash = hashes[n]
	}
	return nil
}

// mayConvert reports whether a staged attributes file may convert content.
func (c *capture) mayConvert(file string) bool {
	mode, hash, err := trees.Lookup(c.k, c.snap.Staged, file)
	if err != nil || mode == 0 {
		return err != nil
	}
	data, err := trees.ReadAs(c.k, plumbing.BlobObject, hash)
	return err != nil || convert.May(data)
}

// filter lets git store files that need clean filters.
func (c *capture) filter(files []trees.FileEntry, which []int) error {
	var flags []string
	if !c.dry {
		flags = []string{"-w"}
	}
	batch := make([]string, len(which))
	for n, i := range which {
		batch[n] = files[i].Path
	}
	hashes, err := convert.Ask(c.ctx, c.git(), batch, flags...)
	if err != nil {
		return err
	}
	for n, i := range which {
		if hashes[n].IsZero() {
			return fmt.Errorf("%q: git could not store it", files[i].Path)
		}
		files[i].Hash = hashes[n]
		c.k.Keep(hashes[n])
	}
	return nil
}
