package gitstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// hash sets what each file would be in git: a symlink its target, a regular
// file what git makes of it, which is asked where it may be another than it is.
func (c *capture) hash(root *os.Root, files []file) error {
	v := &converter{c: c, root: root, outside: sync.OnceValue(c.s.attributesElsewhere), inside: map[string]bool{}}
	var left []int
	var toAsk []file
	for i := range files {
		if files[i].mode == trees.ModeSymlink {
			if target, err := root.Readlink(filepath.FromSlash(files[i].path)); err == nil {
				files[i].hash = plumbing.ComputeHash(plumbing.BlobObject, []byte(target))
			}
		} else if files[i].hash = v.plain(files[i].path); files[i].hash.IsZero() {
			left, toAsk = append(left, i), append(toAsk, files[i])
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	hashes, err := c.hashAll(toAsk)
	if err != nil {
		return err
	}
	for n, i := range left {
		if files[i].hash = hashes[n]; hashes[n].IsZero() {
			files[i].hash = c.hashOne(files[i].path)
		}
	}
	return c.ctx.Err()
}

// hashOne asks for one file's hash with flags; the zero hash means that it
// cannot be read, perhaps by one of its filters.
func (c *capture) hashOne(path string, flags ...string) plumbing.Hash {
	line, err := c.git().Line(c.ctx, append(append([]string{"hash-object"}, flags...), "--", path)...)
	if err != nil {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(line)
}

// hashAll asks git for the hashes of files. Names with a line break cannot be
// asked for in one go: they get the zero hash, which matches nothing.
func (c *capture) hashAll(files []file, flags ...string) ([]plumbing.Hash, error) {
	hashes := make([]plumbing.Hash, len(files))
	var in bytes.Buffer
	var asked []int
	for i, f := range files {
		if !strings.ContainsAny(f.path, "\n\r\"") {
			in.WriteString(f.path + "\n")
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return hashes, nil
	}
	out, err := c.git().Pipe(c.ctx, in.Bytes(), append([]string{"hash-object", "--stdin-paths"}, flags...)...)
	lines := strings.Fields(string(out))
	if err != nil || len(lines) != len(asked) {
		return hashes, c.ctx.Err() // one vanished: each is asked for alone
	}
	for n, i := range asked {
		hashes[i] = plumbing.NewHash(lines[n])
	}
	return hashes, nil
}

// filter lets git store files through their filters.
func (c *capture) filter(files []file, which []int) error {
	var flags []string
	if !c.dry {
		flags = []string{"-w"}
	}
	batch := make([]file, len(which))
	for n, i := range which {
		batch[n] = files[i]
	}
	hashes, err := c.hashAll(batch, flags...)
	if err != nil {
		return err
	}
	for n, i := range which {
		if hashes[n].IsZero() {
			hashes[n] = c.hashOne(files[i].path, flags...)
		}
		if hashes[n].IsZero() {
			return fmt.Errorf("%q: git could not store it", files[i].path)
		}
		files[i].hash = hashes[n]
		c.k.Keep(hashes[n])
	}
	return nil
}
