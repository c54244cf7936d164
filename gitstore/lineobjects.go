package gitstore

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A lineObjects has new objects of a line: commits, and trees of Line.Now.
type lineObjects struct {
	stored trees.Reader
	made   map[plumbing.Hash]lineObject
}

type lineObject struct {
	kind    plumbing.ObjectType
	content []byte
}

func newLineObjects(stored trees.Reader) *lineObjects {
	return &lineObjects{stored, map[plumbing.Hash]lineObject{}}
}

// Read reads an added or a stored object.
func (l *lineObjects) Read(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if o, ok := l.made[hash]; ok {
		return o.kind, o.content, nil
	}
	return l.stored.Read(hash)
}

// Add adds an object and returns its name.
func (l *lineObjects) Add(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	hash := plumbing.ComputeHash(kind, content)
	l.made[hash] = lineObject{kind, content}
	return hash
}

// write stores the objects as loose objects below dir, and forgets them. Concurrent processes may
// write and read the same objects.
func (l *lineObjects) write(dir string) error {
	for hash, o := range l.made {
		name := hash.String()
		path := filepath.Join(dir, name[:2], name[2:])
		if info, err := os.Stat(path); err == nil && info.Size() > 0 { // a crash can leave an empty file
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		fmt.Fprintf(z, "%s %d\x00", o.kind, len(o.content))
		z.Write(o.content) // writes to a buffer never fail
		z.Close()
		if err := fsutil.ReplaceFile(path, &b, fsutil.ReplaceOptions{Temp: "tmp_", Mode: 0o600}); err != nil {
			return err
		}
	}
	clear(l.made)
	return nil
}
