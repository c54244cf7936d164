package restore_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rewrites lists changes of a file. Each function reports whether git add would store
// another blob or mode.
var rewrites = map[string]func(x *site, path string) bool{
	"nothing":   func(*site, string) bool { return false },
	"new times": func(x *site, path string) bool { return x.keepTime(path, time.Hour, func() {}) },
	"the same again": func(x *site, path string) bool {
		data := x.Read(path)
		x.keepTime(path, 0, func() { x.Write(path, data) })
		return false
	},
	"another length": func(x *site, path string) bool { x.Write(path, "more than it was"); return true },
	"another length, old time": func(x *site, path string) bool {
		x.keepTime(path, 0, func() { x.Write(path, "more than it was") })
		return true
	},
	"the same length": func(x *site, path string) bool { x.Write(path, flipped(x.Read(path))); return true },
	"the same length, old time": func(x *site, path string) bool {
		x.keepTime(path, 0, func() { x.Write(path, flipped(x.Read(path))) })
		return true
	},
	"another file, old time": func(x *site, path string) bool {
		x.keepTime(path, 0, func() {
			x.Write("t", flipped(x.Read(path)))
			must(os.Rename(x.Path("t"), x.Path(path)))
		})
		return true
	},
	"a copy of itself, old time": func(x *site, path string) bool {
		x.keepTime(path, 0, func() {
			x.Write("t", x.Read(path))
			must(os.Rename(x.Path("t"), x.Path(path)))
		})
		return false
	},
	"empty":          func(x *site, path string) bool { must(os.Truncate(x.Path(path), 0)); return true },
	"executable":     func(x *site, path string) bool { must(os.Chmod(x.Path(path), 0o755)); return true },
	"other bits":     func(x *site, path string) bool { must(os.Chmod(x.Path(path), 0o600)); return false },
	"another owner":  func(x *site, path string) bool { _ = os.Chown(x.Path(path), 1, 1); return false },
	"gone":           func(x *site, path string) bool { must(os.Remove(x.Path(path))); return false }, // a resume puts it back
	"a symlink":      func(x *site, path string) bool { x.remove(path); must(os.Symlink("b", x.Path(path))); return true },
	"a second name":  func(x *site, path string) bool { must(os.Link(x.Path(path), x.Path("../second"))); return false },
	"a racy rewrite": func(x *site, path string) bool { x.Git("add", path); x.Write(path, flipped(x.Read(path))); return true },
}

// keepTime sets a file's mtime to its previous value plus an offset after change.
func (x *site) keepTime(path string, later time.Duration, change func()) bool {
	info, err := os.Lstat(x.Path(path))
	must(err)
	change()
	must(os.Chtimes(x.Path(path), info.ModTime().Add(later), info.ModTime().Add(later)))
	return false
}

// flipped returns another text of equal length.
func flipped(s string) string {
	if strings.HasPrefix(s, "!") {
		return "?" + s[1:]
	}
	return "!" + s[1:]
}

// TestFilesAreUnchangedByGitsRules compares a restore's result with git's for each
// rewrite and setting. If a setting or flag relaxes git's check, the restore still reads
// the content.
func TestFilesAreUnchangedByGitsRules(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	var settings [][]string
	for _, ctime := range []string{"true", "false"} {
		for _, check := range []string{"default", "minimal"} {
			for _, flag := range []string{"", "--assume-unchanged", "--fsmonitor-valid"} {
				settings = append(settings, []string{ctime, check, flag})
			}
		}
	}
	cases, strict := 0, 0
	for _, set := range settings {
		t.Run(strings.Join(set, " "), func(t *testing.T) {
			x := newSite(t)
			x.Git("config", "core.trustctime", set[0])
			x.Git("config", "core.checkStat", set[1])
			for name, rewrite := range rewrites {
				x.clean()
				x.Write("a", "the checkpoint's\n")
				x.Git("add", "a")
				c := x.save()
				x.Git("reset", "-q", "--hard")
				x.settle("a")
				own := set[0] == "true" && set[1] == "default" && set[2] == ""
				if own && strings.HasSuffix(name, "old time") {
					time.Sleep(1100 * time.Millisecond) // git may compare whole seconds
				}
				if set[2] != "" {
					_, _ = x.Run(nil, "update-index", set[2], "a")
				}
				want := rewrite(x, "a")
				byGit := x.Git("status", "--porcelain", "-uno", "--", "a") != ""
				plan, err := x.s.Files.Plan(context.Background(), c, nil)
				require.NoError(t, err)
				got := slices.Contains(append(plan.Skipped, plan.InTheWay...), "a")
				assert.Equal(t, want, got, name)
				if byGit && name != "gone" {
					assert.True(t, got, "%s: git says that it changed", name)
				}
				if own {
					assert.Equal(t, byGit && name != "gone", got, name)
					strict++
				}
				cases++
				_, _ = x.Run(nil, "update-index", "--no-assume-unchanged", "a")
			}
		})
	}
	require.Equal(t, len(settings)*len(rewrites), cases)
	require.Equal(t, len(rewrites), strict)
	t.Logf("%d cases, %d of them with git's own settings", cases, strict)
}

// TestFilesAsNewAsTheIndexAreRead checks a file with the index's mtime, which may have
// changed after git add.
func TestFilesAsNewAsTheIndexAreRead(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.settle("a")
	info, err := os.Lstat(x.Path("a"))
	require.NoError(t, err)
	stat, known := restore.StatOf(info)
	require.True(t, known)
	e := index.Entry{Path: "a", Mode: filemode.Regular, Stat: stat}
	for after, want := range map[time.Duration]bool{time.Nanosecond: true, time.Hour: true, 0: false, -time.Nanosecond: false, -time.Hour: false} {
		assert.Equal(t, want, restore.Unmodified(e, info, info.ModTime().Add(after)), after)
	}
	assert.False(t, restore.Unmodified(e, info, time.Time{}), "an index that is not there")
}

// settle refreshes a path's index entry, so that git trusts its stat data.
func (x *site) settle(path string) {
	old := time.Now().Add(-time.Hour).Truncate(time.Second).Add(123456789)
	must(os.Chtimes(x.Path(path), old, old))
	x.Git("update-index", "-q", "--refresh")
	require.Empty(x.t, x.Git("diff-files", "--name-only"), fmt.Sprint(path, " is settled"))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
