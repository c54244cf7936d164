// Package odbtest compares objects that package odb reads with git's output, for
// tests.
// It is not internal because the tests of commands use it too.
package odbtest

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

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxContent is the maximum size of objects that Compare reads in full.
const maxContent = 1 << 20

// Repositories returns the git directories below dir, except those with
// objects of another format than this build reads.
func Repositories(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != "objects" {
			return nil // a test may make a directory unreadable
		}
		parent := filepath.Dir(path)
		if !isGitDir(parent) {
			return nil
		}
		if config, _ := os.ReadFile(filepath.Join(parent, "config")); bytes.Contains(bytes.ToLower(config), []byte("sha256")) == (objectformat.Name == "sha256") {
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

// Compared is the result of a comparison.
type Compared struct {
	Objects  int      // objects that git lists
	Contents int      // objects whose content was read and matches the hash
	Differ   []string // one line per difference
	Refused  string   // error of git if it cannot list the objects, else ""
}

// Compare lists the objects of a repository with git cat-file and compares ids, types and
// sizes with the reader's results. It reads contents up to 1 MiB. It compares no objects
// if the repository has more than most objects.
func Compare(ctx context.Context, gitDir string, most int) (Compared, error) {
	c := Compared{}
	s, err := odb.Open(odb.Config{Dir: filepath.Join(gitDir, "objects")})
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
			continue // git's message about a damaged object
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

// object compares an object with git's type and size.
func (c *Compared) object(s *odb.Database, h plumbing.Hash, kind, size string) {
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

// most is the maximum number of objects in a repository that CompareBelow compares.
const most = 2000

// CompareBelow compares the reader with git in all repositories below a test's directory
// and returns their number. Differences do not count if git fsck fails in that
// repository.
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
