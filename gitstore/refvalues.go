package gitstore

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// refValues is refs without a git process where refs are files: git looks for
// the object of each ref, and there may be thousands. A ref whose object is
// missing is there, one that holds no object's name is not, nor is a symbolic
// one.
func (s *Store) refValues(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	if s.repo.RefFormat != "files" {
		return s.refs(ctx, prefixes...)
	}
	loose := map[string]plumbing.Hash{}
	for _, prefix := range prefixes {
		err := eachLoose(s.repo.CommonDir, prefix, func(name, file string) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return ignoreMissing(err)
			}
			if hash, err := parseRef(name, data); err == nil {
				loose[name] = hash
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
	}
	packed, err := readPackedRefs(s.repo.CommonDir) // after loose ones: they may be packed meanwhile
	if err != nil {
		return nil, err
	}
	values := packedValues(string(packed), prefixes, len(loose))
	maps.Copy(values, loose)
	return values, nil
}

// eachLoose gives f the refs below a prefix that have files of their own.
func eachLoose(commonDir, prefix string, f func(name, file string) error) error {
	root := filepath.Join(commonDir, filepath.FromSlash(prefix))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return ignoreMissing(err)
		}
		return f(prefix+filepath.ToSlash(path[len(root)+1:]), path)
	})
	return ignoreMissing(err)
}

// packedValues reads the refs below prefixes of packed-refs, with room for more.
// Lines that begin with "^" tell what the tag before them leads to.
func packedValues(packed string, prefixes []string, more int) map[string]plumbing.Hash {
	values := make(map[string]plumbing.Hash, more+min(strings.Count(packed, "\n"), 1<<14))
	for line := range strings.Lines(packed) {
		hex, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && belowAny(name, prefixes) && plumbing.IsHash(hex) {
			values[name] = plumbing.NewHash(hex)
		}
	}
	return values
}

func belowAny(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if len(name) > len(prefix) && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
