package doctor

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/layout"
)

// Other systems write a temporary file and rename it. A remaining temporary file comes
// from an unfinished write.
const (
	writeTime   = time.Hour // older temporary files have no active writer
	maxWritings = 20_000    // limit of directory entries
)

// unfinishedWrites returns a message for each temporary file that other systems left in
// their checkpoint folders.
func unfinishedWrites(c *invoke.Invocation) []string {
	if c.Store.Root() == "" {
		return nil
	}
	var found []string
	looked := 0
	for _, as := range []layout.Name{layout.Crunch, layout.Claude, layout.Recovery, layout.Dotagent, layout.Pipeline} {
		dir := layout.Folder(as, "x")
		if as == layout.Crunch {
			dir = strings.TrimSuffix(dir, "/x/checkpoints") // folder of all issues
		}
		_ = filepath.WalkDir(filepath.Join(c.Store.Root(), filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			if looked++; looked > maxWritings {
				return fs.SkipAll
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(d.Name(), ".tmp") {
				return nil
			}
			if info, err := d.Info(); err == nil && c.Env.Now().Sub(info.ModTime()) > writeTime {
				found = append(found, fmt.Sprintf("%s: a write that was never finished, of %s: the file that it was for is older", invoke.Below(c.Store.Root(), path), as))
			}
			return nil
		})
	}
	return found
}
