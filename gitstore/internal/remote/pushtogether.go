package remote

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/fsutil"
)

// Git compares each refspec and each lease of a push with each ref, so 10,000 of them take more
// than a minute. A refspec with a pattern takes no time per ref, but needs refs as its source.
// The source is a temporary git directory in the form of a linked worktree: git reads the
// commits below refs/worktree/ from this directory, and everything else from the repository.
//
//	$GIT_COMMON_DIR/git-checkpoint/push/<time>-<random>/
//	  commondir                    path of $GIT_COMMON_DIR
//	  HEAD, config.worktree        copies
//	  refs/worktree/push/<name>    a commit to push; <name> is the last part of the remote ref

// pushRefs is the prefix of the refs in the temporary directory.
const pushRefs = "refs/worktree/push/"

// pushSource creates the temporary directory for updates of refs with distinct last name parts.
// It fails if refs are not files.
func (h Here) pushSource(updates []RefUpdate) (dir string, err error) {
	if h.CommonDir == "" {
		return "", errors.New("refs are not files")
	}
	parent := filepath.Join(h.CommonDir, "git-checkpoint", "push")
	sweepPushes(parent)
	dir = filepath.Join(parent, fmt.Sprintf("%d-%.8s", time.Now().Unix(), rand.Text()))
	refs := filepath.Join(dir, filepath.FromSlash(pushRefs))
	if err := os.MkdirAll(refs, 0o700); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	if err := os.WriteFile(filepath.Join(dir, "commondir"), []byte(h.CommonDir+"\n"), 0o600); err != nil {
		return "", err
	}
	for _, name := range []string{"HEAD", "config.worktree"} {
		data, err := os.ReadFile(filepath.Join(h.Dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil && (name == "HEAD" || !errors.Is(err, fs.ErrNotExist)) {
			return "", err
		}
	}
	for _, g := range updates {
		// The file must not exist, also under a name that the file system treats as equal.
		f, err := os.OpenFile(filepath.Join(refs, path.Base(g.Ref)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(g.Tip.String() + "\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// sweepPushes deletes temporary directories that killed pushes created more than one day ago.
func sweepPushes(parent string) {
	list, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range list {
		if dir := filepath.Join(parent, e.Name()); !fsutil.IsYounger(dir, 24*time.Hour) {
			_ = os.RemoveAll(dir)
		}
	}
}
