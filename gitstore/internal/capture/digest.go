package capture

import (
	"context"
	"os"
	"path"
	"path/filepath"
)

// MaxDigested limits the size of files with a digest, in bytes.
const MaxDigested = 64 << 20

// Digests returns current digests of worktree files: "blob:" and the blob hash after
// git's clean filters. Line endings and filters of another machine therefore do not
// change a digest. Files outside the worktree, irregular files, and files over the limit
// have no digest.
func (s *Checker) Digests(ctx context.Context, places []string) (map[string]string, error) {
	if len(places) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var names, asked []string
	for _, place := range places {
		name := path.Clean(place)
		info, err := root.Stat(filepath.FromSlash(name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > MaxDigested {
			continue
		}
		names, asked = append(names, name), append(asked, place)
	}
	hashes, err := s.Hasher(root).Hash(ctx, names)
	if err != nil {
		return nil, err
	}
	digests := make(map[string]string, len(asked))
	for n, place := range asked {
		if !hashes[n].IsZero() {
			digests[place] = digest(hashes[n])
		}
	}
	return digests, nil
}
