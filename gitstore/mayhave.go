package gitstore

import (
	"bytes"
	"os"
	"path/filepath"
)

// MayHaveCheckpoints reports whether a repository could have a checkpoint,
// from a few files alone: a hook that has nothing to do must not cost a git
// process. It says no only where that is certain.
func MayHaveCheckpoints(dir string) bool {
	r, ok := guess(dir)
	if !ok || exists(filepath.Join(r.commonDir, "reftable")) {
		return true
	}
	loose, err := os.ReadDir(filepath.Join(r.commonDir, filepath.FromSlash(liveRefs)))
	if len(loose) > 0 || err != nil && !os.IsNotExist(err) {
		return true
	}
	packed, err := os.ReadFile(filepath.Join(r.commonDir, "packed-refs"))
	return err != nil && !os.IsNotExist(err) || bytes.Contains(packed, []byte(" "+liveRefs))
}
