package commands

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/testing/gittest"
)

// pairedCommands are the writing commands. The value of a command names what it may take from issue
// 42: "" for nothing, "some" for a checkpoint that is not pinned, "all" for all checkpoints.
var pairedCommands = map[string]string{
	"save 42":                                 "",
	"save 42 --staged":                        "",
	"save 42 --trigger batch_complete":        "some", // retention
	"save 42 --push":                          "",
	"run 42 -- sh -c true":                    "",
	"pin 42 latest~1":                         "",
	"prune 42 --keep manual=1":                "some",
	"drop 42 latest~1 --yes":                  "some",
	"drop 42 latest~1 --purge --yes":          "some",
	"drop 42 --everything --yes":              "all",
	"archive 42":                              "",
	"archive 42 latest~1":                     "",
	"undo 42 --yes":                           "",
	"redo 42 --yes":                           "some", // drops again
	"restore 42 latest~1":                     "",
	"resume 42 --auto":                        "",
	"fork 42 b":                               "",
	"adopt 42+a":                              "",
	"finish 42":                               "all",
	"sync 42 --yes":                           "",
	"push 42 --yes":                           "",
	"fetch 42":                                "",
	"import ../in":                            "",
	"export 42 --as crunch":                   "",
	"start 42 --phases 3":                     "",
	"task add T1 --issue 42":                  "",
	"doctor --fix":                            "",
	"blame 42 a.txt":                          "", // extends the line of the issue
	"hooks install":                           "",
	"-C ../other save 42":                     "",
	"-C ../other sync 42 --yes":               "",
	"-C ../other drop 42 latest~1 --yes":      "some",
	"-C ../worktree save 42":                  "",
	"-C ../worktree restore 42 latest~1":      "",
	"-C ../worktree resume 42 --auto --force": "",
}

// Two processes of every pair of writing commands begin at the same time. Each succeeds or says why
// not. No checkpoint is lost that neither command may take, and the repository is sound. A run
// outside of a full one takes the pairs of the day.
func TestTorturePairs(t *testing.T) {
	gittest.Slow(t)
	template := pairTemplate(t)
	names := slices.Sorted(maps.Keys(pairedCommands))
	stride := 25
	if gittest.Torture() {
		stride = 1
	}
	n := gittest.Day()
	for i, one := range names {
		for _, two := range names[i:] {
			if n++; n%stride == 0 {
				t.Run(one+" and "+two, func(t *testing.T) { testPair(t, template, one, two) })
			}
		}
	}
}

// pairTemplate creates a repository with a remote, another clone whose chain has diverged, a linked
// worktree, a fork, and archived and pinned checkpoints.
func pairTemplate(t *testing.T) *victim {
	v := newVictim(t)
	v.git("config", "checkpoint.issue-source", "none")
	v.git("init", "-q", "--bare", "-b", "main", "../remote.git")
	v.git("remote", "add", "origin", "../remote.git")
	v.git("push", "-q", "origin", "main")
	v.git("config", "checkpoint.retention.batch-complete", "3")
	for n := range 3 {
		v.write("new.txt", strings.Repeat("new\n", n+1))
		v.tool("save", "42", "--trigger", "batch_complete")
	}
	v.tool("archive", "42", "latest~2")
	v.tool("pin", "42", "latest~1")
	v.write("new.txt", "last\n")
	v.tool("save", "42")
	v.tool("save", "42", "-m", "two")
	v.tool("fork", "42", "a")
	v.tool("save", "42+a", "-m", "in the fork")
	v.tool("export", "42", "--as", "crunch", "--dir", "../in")
	v.tool("sync", "--all", "--yes")
	v.git("clone", "-q", "../remote.git", "../other")
	v.git("-C", "../other", "remote", "set-url", "origin", "../remote.git") // that of each copy
	v.tool("-C", "../other", "sync", "42", "--yes")
	v.tool("-C", "../other", "save", "42", "-m", "there")
	v.tool("save", "42", "-m", "here")
	v.tool("drop", "42", "latest", "--yes")
	v.tool("undo", "42", "--yes")
	v.git("worktree", "add", "-q", "-b", "side", "../worktree")
	return v
}

func testPair(t *testing.T, template *victim, one, two string) {
	root := t.TempDir()
	assert.NoError(t, copyTree(filepath.Dir(template.dir), root))
	v := &victim{t: t, dir: filepath.Join(root, "repo"), env: tortureEnv(root)}
	v.git("worktree", "repair", "../worktree")
	other := &victim{t: t, dir: filepath.Join(root, "other"), env: v.env}

	places := []*victim{v, other}
	before := map[string]bool{}
	for _, place := range places {
		for _, id := range slices.Concat(place.ids("42"), place.archivedIDs("42")) {
			before[id] = true
		}
	}
	pinned := v.pinned()

	outcomes := v.together(one, two)
	for _, o := range outcomes {
		said := fmt.Sprintf("%s: exit %d: %s", o.name, o.code, o.err)
		assert.NotContains(t, []int{-1, failure.Usage, failure.Repository, failure.Limit}, o.code, said)
		if !strings.Contains(o.name, "import") { // what was dropped is not imported
			assert.NotEqual(t, failure.Invalid, o.code, said)
		}
		assert.NotContains(t, o.err, "goroutine ", said)
		assert.True(t, o.code == failure.OK || o.err != "", said)
	}
	for _, place := range places {
		place.tool("doctor", "--fix")
		place.sound()
	}
	assert.Empty(t, v.locks())

	takes := pairedCommands[one] + pairedCommands[two]
	if strings.Contains(takes, "all") {
		return
	}
	after := map[string]bool{}
	for _, place := range places {
		for _, id := range slices.Concat(place.ids("42"), place.archivedIDs("42")) {
			after[id] = true
		}
	}
	assert.True(t, after[pinned], "the pinned checkpoint is lost")
	if takes != "" {
		return
	}
	for id := range before {
		assert.Truef(t, after[id], "%s is lost\n%s\n%s", id, outcomes[0].err, outcomes[1].err)
	}
	for _, o := range outcomes {
		if id := strings.TrimSpace(o.out); o.code == failure.OK && strings.HasPrefix(id, "CP-") {
			assert.True(t, after[id], "%s: %s is lost", o.name, id)
		}
	}
}

// pinned returns the pinned checkpoint of issue 42.
func (v *victim) pinned() string {
	var list view.CheckpointList
	require.NoError(v.t, json.Unmarshal([]byte(v.tool("list", "42", "--json")), &list))
	for _, c := range list.Checkpoints {
		if c.Pinned {
			return c.CheckpointID
		}
	}
	v.t.Fatal("no checkpoint is pinned")
	return ""
}
