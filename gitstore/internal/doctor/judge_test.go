package doctor

import (
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// ago returns a time before now.
func ago(d time.Duration) time.Time { return now.Add(-d) }

var (
	hash  = strings.Repeat("11", objectformat.Size)
	sound = strings.Repeat("22", objectformat.Size)
)

func TestJudge(t *testing.T) {
	t.Parallel()
	lock := func(kind FileKind, old time.Duration) Facts {
		return Facts{Files: []LeftFile{{Path: "x.lock", Kind: kind, At: ago(old)}}}
	}
	ref := func(r Ref) Facts { return Facts{Refs: []Ref{r}} }
	set := func(pairs ...string) (f Facts) {
		for i := 0; i < len(pairs); i += 2 {
			f.Config = append(f.Config, git.ConfigEntry{Key: pairs[i], Value: pairs[i+1]})
		}
		return f
	}
	for name, c := range map[string]struct {
		facts Facts
		want  string // part of the text, "" means no finding
		fails bool
		fix   *Fix // message not compared
	}{
		"nothing":                  {},
		"a lock in use":            {facts: lock(RefLock, time.Hour)},
		"a lock of the future":     {facts: lock(RefLock, -time.Hour)},
		"a stale lock":             {lock(RefLock, time.Hour+time.Second), "x.lock: a lock that a killed git left 60 minutes ago", true, &Fix{Act: RemoveFiles, Names: []string{"x.lock"}, Until: ago(time.Hour)}},
		"a locked index":           {lock(IndexLock, 3*time.Hour), "locked since 3 hours", false, nil},
		"a temporary file in use":  {facts: lock(Temporary, 24*time.Hour)},
		"a temporary file":         {lock(Temporary, 50*time.Hour), "1 temporary file of", false, &Fix{Act: RemoveFiles, Names: []string{"x.lock"}, Until: ago(24 * time.Hour)}},
		"an object being written":  {facts: lock(Object, time.Hour)},
		"a half-written object":    {lock(Object, 50*time.Hour), "1 half-written object of", false, &Fix{Act: RemoveFiles, Names: []string{"x.lock"}, Until: ago(24 * time.Hour)}},
		"an interrupted restore":   {Facts{Pending: []string{"worktrees/a"}}, "worktrees/a: a restore was interrupted", false, nil},
		"a sound ref":              {facts: ref(Ref{Name: "r", Role: Chain, Value: hash})},
		"a broken chain":           {ref(Ref{Name: "r", Role: Chain, Problem: "empty", Good: sound}), "r: empty", true, &Fix{Act: SetRef, Names: []string{"r"}, To: sound}},
		"a chain to nowhere":       {ref(Ref{Name: "r", Role: Chain, Value: hash, Problem: "gone", Lasting: true}), "r: gone", true, &Fix{Act: SetAside, Names: []string{"r"}, From: hash}},
		"a disk that is away":      {ref(Ref{Name: "r", Role: Chain, Value: hash, Problem: "gone"}), "r: gone", true, nil},
		"broken bookkeeping":       {ref(Ref{Name: "r", Role: Note, Value: hash, Problem: "gone", Lasting: true}), "r: gone", true, &Fix{Act: SetAside, Names: []string{"r"}, From: hash}},
		"what this clone wrote":    {ref(Ref{Name: "r", Role: Own, Problem: "empty", Good: sound}), "r: empty", true, &Fix{Act: SetRef, Names: []string{"r"}, To: sound}},
		"taken away":               {ref(Ref{Name: "r", Role: Own, Value: hash, Issue: "42", Taken: true}), "refs/checkpoints/42: checkpoints of this clone were removed", false, &Fix{Act: BringBack, Names: []string{"r"}, To: "42"}},
		"no issue":                 {ref(Ref{Name: "refs/checkpoints/a~", Role: Strange, Value: hash}), "not a valid issue key", false, nil},
		"a fetch at work":          {facts: ref(Ref{Name: "i", Role: Incoming, Value: hash, Made: ago(time.Hour)})},
		"a killed fetch":           {ref(Ref{Name: "i", Role: Incoming, Value: hash, Made: ago(25 * time.Hour)}), "1 ref that killed fetches left: i", false, &Fix{Act: DeleteRefs, Names: []string{"i"}, Values: []string{hash}}},
		"few objects":              {facts: Facts{Objects: ObjectCounts{Loose: 6700, Packs: 50}}},
		"many objects":             {Facts{Objects: ObjectCounts{Loose: 6701}}, "6701 loose objects, more than gc.auto (6700)", false, nil},
		"many packs":               {Facts{Objects: ObjectCounts{Packs: 51}}, "51 packs", false, nil},
		"gc off":                   {facts: Facts{Objects: ObjectCounts{Loose: 1 << 20}, Config: []git.ConfigEntry{{Key: "gc.auto", Value: "0"}}}},
		"git of today":             {facts: Facts{Git: git.Version{2, 36}}},
		"git that syncs no refs":   {Facts{Git: git.Version{2, 35}}, "git 2.35: it does not sync refs", false, nil},
		"git of old":               {Facts{Git: git.Version{2, 26}}, "too old", true, nil},
		"a mirror":                 {set("remote.a.b.mirror", "true"), "remote.a.b.mirror:", false, nil},
		"no mirror":                {facts: set("remote.a.mirror", "false")},
		"a push of chains":         {set("remote.o.push", "refs/checkpoints/*:refs/checkpoints/*"), "remote.o.push", false, nil},
		"a push of all":            {set("remote.o.push", "+refs/*:refs/*"), "remote.o.push", false, nil},
		"a push of branches":       {facts: set("remote.o.push", "refs/heads/*:refs/heads/*", "remote.o.push", "^refs/checkpoints/*")},
		"a forced fetch of chains": {set("remote.o.fetch", "+refs/*:refs/*"), "remote.o.fetch", false, nil},
		"a fetch beside them":      {facts: set("remote.o.fetch", "refs/checkpoints/*:refs/checkpoints/*", "remote.o.fetch", "+refs/checkpoints/*:refs/x/*")},
		"reflogs go at once":       {set("gc.reflogexpireunreachable", "never", "gc.reflogexpireunreachable", "now"), "impossible to undo", false, nil},
		"reflogs stay":             {facts: set("gc.reflogexpireunreachable", "now", "gc.reflogexpireunreachable", "30 days")},
		"nothing is synced":        {set("core.fsync", "none"), "loss of power", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.facts.Now = now
			found := Judge(c.facts)
			if c.want == "" {
				assert.Empty(t, found)
				return
			}
			if assert.Len(t, found, 1) {
				assert.Contains(t, found[0].Text, c.want)
				assert.Equal(t, c.fails, found[0].Error)
				if found[0].Fix != nil {
					assert.NotEmpty(t, found[0].Fix.Said)
					found[0].Fix.Said = ""
				}
				assert.Equal(t, c.fix, found[0].Fix)
			}
		})
	}
}

// TestExpiredRefsFormOneFinding checks many expired refs.
func TestExpiredRefsFormOneFinding(t *testing.T) {
	t.Parallel()
	f := Facts{Now: now}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		f.Refs = append(f.Refs, Ref{Name: name, Role: Incoming, Value: hash})
	}
	found := Judge(f)
	require.Len(t, found, 1)
	assert.Equal(t, "5 refs that killed fetches left: a, b, c and 2 more", found[0].Text)
	assert.Equal(t, &Fix{
		Act: DeleteRefs, Names: []string{"a", "b", "c", "d", "e"}, Values: []string{hash, hash, hash, hash, hash},
		Said: "removed " + found[0].Text,
	}, found[0].Fix)
}

func TestErrorsComeFirst(t *testing.T) {
	t.Parallel()
	found := Judge(Facts{Now: now, Git: git.Version{2, 20}, Pending: []string{"."}})
	assert.True(t, found[0].Error)
	assert.False(t, found[1].Error)
}

func TestManyFilesAreCounted(t *testing.T) {
	t.Parallel()
	f := Facts{Now: now}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		f.Files = append(f.Files, LeftFile{name, Temporary, time.Time{}})
	}
	found := Judge(f)
	assert.Equal(t, "5 temporary files of processes that are gone: a, b, c and 2 more", found[0].Text)
	assert.Len(t, found[0].Fix.Names, 5)
}
