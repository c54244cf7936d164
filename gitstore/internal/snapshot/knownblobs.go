package snapshot

import (
	"context"
	"os"

	"git-checkpoint/gitstore/internal/git/convert"

	"github.com/go-git/go-git/v5/plumbing"
)

// knownBlobs finds the blobs of worktree files in the stat cache. It is used by one goroutine.
// The caller closes dirs.
type knownBlobs struct {
	cache  *statCache
	hasher *convert.Hasher
	dirs   *realDirs
	near   int // entry of the cache
}

// find returns the blob of a regular file with its stat data found, or zero if the cache does not
// know it. staged is the blob of its index entry, or zero. key is that of the file in the cache.
func (k *knownBlobs) find(path string, found foundFile, staged plumbing.Hash) (key uint64, blob plumbing.Hash) {
	if key = k.hasher.Key(path); key != 0 {
		key = withStaged(key, staged)
	}
	return key, k.cache.blob(path, found, key, &k.near)
}

// A WorktreeFile is a file to hash, with the blob of its index entry, or zero.
type WorktreeFile struct {
	Path   string
	Staged plumbing.Hash
}

// A WorktreeBlob is the blob that git would create for a worktree file, zero if the file is not
// readable. The hash of a cached blob comes from the stat cache: the file was not read, and its
// content is that of the blob, without conversion.
type WorktreeBlob struct {
	Hash   plumbing.Hash
	Cached bool
}

// HashFiles returns the blobs that git would create for worktree files. If read is set, it reads
// all files, otherwise only those that the stat cache does not know. It does not write the cache:
// a save follows that has to read the new files anyway.
func (s *Capturer) HashFiles(ctx context.Context, files []WorktreeFile, read bool) ([]WorktreeBlob, error) {
	if len(files) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(s.repo.Info.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	hasher := s.hasher(root)
	defer hasher.Close()
	blobs := make([]WorktreeBlob, len(files))
	if !read {
		cache, done := s.openStatCache(Request{DryRun: true})
		defer done()
		if cache.pays(len(files)) {
			known := knownBlobs{cache: cache, hasher: hasher, dirs: newRealDirs(cache.root)}
			defer known.dirs.close()
			for i, f := range files {
				if found := known.dirs.find(f.Path); found.mode != 0 {
					_, blobs[i].Hash = known.find(f.Path, found, f.Staged)
					blobs[i].Cached = !blobs[i].Hash.IsZero()
				}
			}
		}
	}
	var asked []int
	var paths []string
	for i, f := range files {
		if !blobs[i].Cached {
			asked, paths = append(asked, i), append(paths, f.Path)
		}
	}
	hashes, err := hasher.Hash(ctx, paths)
	if err != nil {
		return nil, err
	}
	for n, i := range asked {
		blobs[i].Hash = hashes[n]
	}
	return blobs, nil
}
