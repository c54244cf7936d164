// Package objecttest compares the reader of objects with git, for tests.
package objecttest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/objects"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxContent bounds the size of an object whose content is read.
const maxContent = 1 << 20

// Repositories returns the git directories below dir, except those with SHA-256
// objects.
func Repositories(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != "objects" {
			return nil // a test may take away the right to read a directory
		}
		parent := filepath.Dir(path)
		if !isGitDir(parent) {
			return nil
		}
		if config, _ := os.ReadFile(filepath.Join(parent, "config")); !bytes.Contains(bytes.ToLower(config), []byte("sha256")) {
			found = append(found, parent)
		}
		return fs.SkipDir
	})
	return found, err
}

func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// Compared is the outcome of one comparison.
type Compared struct {
	Objects  int      // that git lists
	Contents int      // that were read and have the hash they should have
	Differ   []string // one line a difference
	Refused  string   // why git does not list the objects, "" if it does
}

// Compare lists the objects of a repository with git cat-file, and compares the
// ids, kinds and sizes with those that the reader finds. It reads the contents
// of objects up to 1 MiB, and skips a repository with more than most objects.
func Compare(ctx context.Context, gitDir string, most int) (Compared, error) {
	c := Compared{}
	s, err := objects.Open(objects.Config{Dir: filepath.Join(gitDir, "objects")})
	if err != nil {
		return c, err
	}
	defer s.Close()
	listed, said, err := catFile(ctx, gitDir)
	if err != nil {
		c.Refused = strings.TrimSpace(said + " " + err.Error())
		return c, nil
	}
	if c.Objects = strings.Count(listed, "\n"); c.Objects > most {
		return c, nil
	}
	for line := range strings.Lines(listed) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue // git names a damaged object
		}
		c.object(s, plumbing.NewHash(fields[0]), fields[1], fields[2])
	}
	return c, nil
}

func catFile(ctx context.Context, gitDir string) (listed, said string, err error) {
	cmd := exec.CommandContext(ctx, "git", "--git-dir="+gitDir, "cat-file", "--batch-all-objects", "--batch-check")
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "LC_ALL=C", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// object compares one object with what git says of it.
func (c *Compared) object(s *objects.Database, h plumbing.Hash, kind, size string) {
	t, n, err := s.Header(h)
	switch {
	case err != nil:
		c.Differ = append(c.Differ, fmt.Sprintf("%s: git has a %s of %s bytes: %v", h, kind, size, err))
		return
	case t.String() != kind || strconv.FormatInt(n, 10) != size:
		c.Differ = append(c.Differ, fmt.Sprintf("%s: git has a %s of %s bytes, not a %s of %d", h, kind, size, t, n))
		return
	case n > maxContent:
		return
	}
	t, content, err := s.Read(h)
	if err == nil && plumbing.ComputeHash(t, content) != h {
		err = fmt.Errorf("the content has another hash")
	}
	if err != nil {
		c.Differ = append(c.Differ, fmt.Sprintf("%s: %v", h, err))
		return
	}
	c.Contents++
}

// most bounds the objects of a repository that CompareBelow looks at.
const most = 2000

// CompareBelow compares the reader with git in the repositories below a folder
// that a test has used, and returns how many there are. A repository in which
// git fsck finds damage may differ.
func CompareBelow(ctx context.Context, dir string) (compared int, differ []string) {
	repositories, err := Repositories(dir)
	if err != nil {
		return 0, []string{err.Error()}
	}
	for _, r := range repositories {
		c, err := Compare(ctx, r, most)
		if err != nil {
			c.Differ = append(c.Differ, err.Error())
		}
		if len(c.Differ) > 0 && exec.CommandContext(ctx, "git", "--git-dir="+r, "fsck", "--no-dangling").Run() == nil {
			differ = append(differ, r+": "+strings.Join(c.Differ[:min(5, len(c.Differ))], "\n"))
		}
		compared++
	}
	return compared, differ
}
