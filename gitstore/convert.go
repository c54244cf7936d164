package gitstore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A converter knows files that git stores as they stand. By gitattributes(5) it
// stores something else for the attributes in converting, and takes carriage
// returns away for text, eol, crlf and core.autocrlf. It errs to one side: a file
// that is not known is left to git.
type converter struct {
	c       *capture
	root    *os.Root
	outside func() bool     // an attributes file outside the worktree may convert
	inside  map[string]bool // and one in a directory, "." for the root
}

// converting are the attributes that change more than line ends.
var converting = [][]byte{[]byte("filter"), []byte("ident"), []byte("working-tree-encoding")}

// maxPlain is the size in bytes up to which a file is looked at. Git streams
// what is larger.
const maxPlain = 1 << 20

// plain returns the hash of a regular file that git stores as it stands, the
// zero hash for any other.
func (v *converter) plain(file string) plumbing.Hash {
	info, err := v.root.Lstat(filepath.FromSlash(file))
	if err != nil || info.Size() > maxPlain || v.outside() || v.within(path.Dir(file)) {
		return plumbing.ZeroHash
	}
	data, err := v.root.ReadFile(filepath.FromSlash(file))
	if err != nil || bytes.IndexByte(data, '\r') >= 0 {
		return plumbing.ZeroHash
	}
	return plumbing.ComputeHash(plumbing.BlobObject, data)
}

// within reports whether the attributes of a directory, or of one above it, may
// convert.
func (v *converter) within(dir string) bool {
	may, known := v.inside[dir]
	if !known {
		may = v.in(dir) || dir != "." && v.within(path.Dir(dir))
		v.inside[dir] = may
	}
	return may
}

// in judges a directory's own attributes file: that of the worktree, else the
// one that is staged. Git follows no symlink there.
func (v *converter) in(dir string) bool {
	file := path.Join(dir, ".gitattributes")
	info, err := v.root.Lstat(filepath.FromSlash(file))
	if errors.Is(err, fs.ErrNotExist) {
		return v.staged(file)
	}
	if err != nil || !info.Mode().IsRegular() {
		return true
	}
	data, err := v.root.ReadFile(filepath.FromSlash(file))
	return err != nil || mayConvert(data)
}

func (v *converter) staged(file string) bool {
	mode, hash, err := trees.Lookup(v.c.k, v.c.snap.staged, file)
	if err != nil || mode == 0 {
		return err != nil
	}
	data, err := trees.ReadAs(v.c.k, plumbing.BlobObject, hash)
	return err != nil || mayConvert(data)
}

func mayConvert(attributes []byte) bool {
	return slices.ContainsFunc(converting, func(name []byte) bool { return bytes.Contains(attributes, name) })
}

// attributesElsewhere reports whether attributes that are not in the worktree
// may convert: the repository's, the user's, the system's.
func (s *Store) attributesElsewhere() bool {
	_, moved := gitcmd.Last(s.config, "attr.tree")
	user, known := s.userAttributes()
	if moved || !known || os.Getenv("GIT_ATTR_SOURCE") != "" {
		return true
	}
	files := append(s.systemAttributes(), filepath.Join(s.repo.commonDir, "info", "attributes"), user)
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := os.ReadFile(file)
		return err != nil && !errors.Is(err, fs.ErrNotExist) && !isDirectory(err) || mayConvert(data)
	})
}

// userAttributes is the user's file by core.attributesFile or its default,
// known where it is plain what file that is.
func (s *Store) userAttributes() (file string, known bool) {
	file, set := gitcmd.Last(s.config, "core.attributesfile")
	home, err := os.UserHomeDir()
	if !set {
		file = filepath.Join("~", ".config", "git", "attributes")
		if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
			file = filepath.Join(dir, "git", "attributes")
		}
	}
	if below, ok := strings.CutPrefix(filepath.ToSlash(file), "~/"); ok {
		return filepath.Join(home, below), err == nil
	}
	return file, filepath.IsAbs(file)
}

// systemAttributes are the files that may be the system's: it stands beside the
// system's settings, whose place is git's own knowledge.
func (s *Store) systemAttributes() []string {
	dirs := []string{"/etc"}
	if git, err := exec.LookPath("git"); err == nil {
		dirs = append(dirs, filepath.Join(filepath.Dir(filepath.Dir(git)), "etc"))
	}
	for _, e := range s.config {
		if path, file := strings.CutPrefix(e.Origin, "file:"); file && e.Scope == "system" {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	slices.Sort(dirs)
	var files []string
	for _, dir := range slices.Compact(dirs) {
		files = append(files, filepath.Join(dir, "gitattributes"))
	}
	return files
}
