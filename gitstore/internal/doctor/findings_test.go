package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/git"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLeftFiles checks that exactly the leftover files of every directory are found.
func TestLeftFiles(t *testing.T) {
	t.Parallel()
	common := t.TempDir()
	left := map[string]leftKind{
		"packed-refs.lock": refLock, "refs/checkpoints/a.lock": refLock, "index.lock": indexLock,
		"refs/git-checkpoint/own/a.lock": refLock, "refs/git-checkpoint/here/w/a.lock": refLock, "reftable/tables.list.lock": refLock,
		"git-checkpoint/.tmp-1":  temporary,
		"worktrees/w/index.lock": indexLock, "worktrees/w/git-checkpoint/.tmp-1": temporary,
	}
	put := func(name string) {
		path := filepath.Join(common, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, nil, 0o666))
	}
	for name := range left {
		put(name)
	}
	for _, name := range []string{
		"refs/checkpoints/a", "refs/heads/x.lock", "config.lock", "index", "index-12-34",
		"objects/12/34", "objects/12/tmp_obj_x", "git-checkpoint/restore", "git-checkpoint/deep/.tmp-1", "worktrees/w/deep/index.lock",
	} {
		put(name)
	}
	found := leftFiles(common, filepath.Join(common, "objects"))
	got := map[string]leftKind{}
	for _, file := range found {
		rel, err := filepath.Rel(common, file.path)
		require.NoError(t, err)
		got[filepath.ToSlash(rel)] = file.kind
	}
	assert.Equal(t, left, got)
}

func TestJudgeGit(t *testing.T) {
	t.Parallel()
	set := func(pairs ...string) (config []git.ConfigEntry) {
		for i := 0; i < len(pairs); i += 2 {
			config = append(config, git.ConfigEntry{Key: pairs[i], Value: pairs[i+1]})
		}
		return config
	}
	for name, c := range map[string]struct {
		config  []git.ConfigEntry
		version git.Version
		objects ObjectCounts
		want    string // part of the text, "" means no finding
	}{
		"few objects":              {objects: ObjectCounts{Loose: 6700, Packs: 50}},
		"many objects":             {objects: ObjectCounts{Loose: 6701}, want: "6701 loose objects, more than gc.auto (6700): git gc packs them"},
		"many packs":               {objects: ObjectCounts{Packs: 51}, want: "51 packs, more than gc.autoPackLimit (50): git gc joins them"},
		"a limit of packs":         {config: set("gc.autopacklimit", "60"), objects: ObjectCounts{Packs: 51}},
		"gc off":                   {config: set("gc.auto", "0"), objects: ObjectCounts{Loose: 1 << 20}},
		"git of today":             {version: git.Version{2, 36}},
		"git that syncs no refs":   {version: git.Version{2, 35}, want: "git 2.35: it does not sync refs"},
		"a mirror":                 {config: set("remote.a.b.mirror", "true"), want: "remote.a.b.mirror:"},
		"no mirror":                {config: set("remote.a.mirror", "false")},
		"a push of chains":         {config: set("remote.o.push", "refs/checkpoints/*:refs/checkpoints/*"), want: "remote.o.push"},
		"a push of all":            {config: set("remote.o.push", "+refs/*:refs/*"), want: "remote.o.push"},
		"a push of branches":       {config: set("remote.o.push", "refs/heads/*:refs/heads/*", "remote.o.push", "^refs/checkpoints/*")},
		"a forced fetch of chains": {config: set("remote.o.fetch", "+refs/*:refs/*"), want: "remote.o.fetch"},
		"a fetch beside them":      {config: set("remote.o.fetch", "refs/checkpoints/*:refs/checkpoints/*", "remote.o.fetch", "+refs/checkpoints/*:refs/x/*")},
		"nothing is synced":        {config: set("core.fsync", "none"), want: "loss of power"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.version == (git.Version{}) {
				c.version = git.Version{2, 36}
			}
			found := judgeGit(c.config, c.version, c.objects)
			if c.want == "" {
				assert.Empty(t, found)
			} else if assert.Len(t, found, 1) {
				assert.Contains(t, found[0].Text, c.want)
			}
		})
	}
}
