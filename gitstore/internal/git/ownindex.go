package git

import (
	"os"
	"slices"
	"strings"

	"git-checkpoint/gitstore/fsutil"
)

// OnIndex returns a copy of g for an index file that this program keeps, for example a copy of
// the user's index. Git starts neither hooks nor a file system monitor for this index. It writes
// the whole index to the file, with its checksum, and syncs it together with new objects. It
// never removes the shared part of a split index, which the user's index may need. config are
// the settings of the repository: hooks that they define are disabled too.
func (g Git) OnIndex(file string, config ...ConfigEntry) Git {
	g = g.With("GIT_INDEX_FILE=" + file)
	g.Settings = append(slices.Clone(g.Settings),
		"core.hooksPath="+os.DevNull, "core.fsmonitor=false", "core.safecrlf=false",
		"core.splitIndex=false", "splitIndex.sharedIndexExpire=never", "index.skipHash=false",
	)
	for _, e := range config { // git 2.54 and newer
		hook, isCommand := strings.CutSuffix(e.Key, ".command")
		if isCommand && strings.HasPrefix(hook, "hook.") && !strings.Contains(hook, "=") {
			g.Settings = append(g.Settings, hook+".enabled=false")
		}
	}
	// Before 2.36 git ignores this setting, and nothing is promised about a loss of power.
	fsync := "core.fsync=loose-object,pack,pack-metadata,index"
	if !fsutil.Syncs() {
		fsync = "core.fsync=none"
	}
	g.Settings = append(g.Settings, fsync)
	return g
}
