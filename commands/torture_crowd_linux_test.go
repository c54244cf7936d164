package commands

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

// beside repeats functions in goroutines until stop, which waits for their end. The pause
// between rounds leaves processor time for the tested processes.
type beside struct {
	pause time.Duration
	done  atomic.Bool
	group sync.WaitGroup
}

func (b *beside) loop(f func(round int)) {
	b.group.Go(func() {
		for i := 0; !b.done.Load(); i++ {
			f(i)
			time.Sleep(b.pause)
		}
	})
}

func (b *beside) stop() {
	b.done.Store(true)
	b.group.Wait()
}

// works asserts that a command succeeds. It can be called from any goroutine.
func (v *victim) works(name string, args ...string) outcome {
	o := v.try(name, args...)
	assert.Zerof(v.t, o.code, "%s: exit %d: %s", o.name, o.code, o.err)
	return o
}

// tidies asserts that a maintenance command of git succeeds, or fails because a ref is
// locked for too long. Warnings about refs that move are accepted.
func (v *victim) tidies(args ...string) { v.tidied(v.try("git", args...)) }

func (v *victim) tidied(o outcome) {
	busy := strings.Contains(o.err, ".lock': File exists")
	assert.Truef(v.t, o.code == 0 || busy, "%s: exit %d: %s", o.name, o.code, o.err)
}

// well asserts that a command succeeds without output on standard error.
func (v *victim) well(name string, args ...string) string {
	o := v.works(name, args...)
	assert.Emptyf(v.t, o.err, "%s", o.name)
	return o.out
}

// saves collects the ids that concurrent writers have printed.
type saves struct {
	mu  sync.Mutex
	ids map[string]bool
}

func newSaves() *saves { return &saves{ids: map[string]bool{}} }

// add records a save's output, which must be one new id.
func (s *saves) add(t *testing.T, printed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.Regexp(t, `^CP-[a-z0-9_]+-\S+$`, printed)
	assert.Falsef(t, s.ids[printed], "%s was printed twice", printed)
	s.ids[printed] = true
}

// 16 processes save to one issue while git packs refs, collects garbage and moves other
// refs. Every printed id is in the chain, and every reader sees a complete ref at all
// times.
func TestTortureCrowd(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	v.git("config", "gc.auto", "1000")
	v.git("config", "gc.autoDetach", "false")
	printed := newSaves()
	printed.add(t, v.tool("save", "42"))

	packing, others := beside{}, beside{pause: 10 * time.Millisecond}
	reads := v.readers(&others)
	head := v.git("rev-parse", "HEAD")
	packing.loop(func(int) { v.tidies("pack-refs", "--all") })
	others.loop(func(int) { v.tidies("gc", "--auto", "--quiet") })
	others.loop(func(i int) { v.well("git", "update-ref", fmt.Sprintf("refs/heads/other-%d", i%20), head) })

	const writers = 16
	each := dose(200)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				printed.add(t, v.well("git-checkpoint", "save", "42", "-m", fmt.Sprintf("save %d of writer %d", i, w)))
			}
		})
	}
	group.Wait()
	packing.stop()
	others.stop()
	assert.Len(t, printed.ids, writers*each+1)
	assert.NotZero(t, reads.Load())
	v.holds("42", printed.ids)
	v.sound()
	assert.Empty(t, v.locks())
	t.Logf("%d saves, %d looks at the refs", writers*each, reads.Load())
}

// readers read the ref in several ways, in a loop. Each read returns a descendant of the
// previous tip.
func (v *victim) readers(b *beside) *atomic.Int64 {
	var reads atomic.Int64
	last := v.git("rev-parse", "refs/checkpoints/42")
	b.loop(func(int) {
		tip := v.well("git", "rev-parse", "--verify", "refs/checkpoints/42")
		v.well("git", "merge-base", "--is-ancestor", last, tip)
		last = tip
		reads.Add(1)
	})
	b.loop(func(int) {
		out := v.well("git", "for-each-ref", "--format=%(refname) %(objecttype)", "refs/checkpoints")
		assert.Equal(v.t, "refs/checkpoints/42 commit", out)
		reads.Add(1)
	})
	newest := ""
	b.loop(func(int) {
		out := v.well("git-checkpoint", "list", "42", "-n", "1")
		assert.Contains(v.t, out, "CP-none-")
		if out != newest {
			reads.Add(1)
		}
		newest = out
	})
	return &reads
}

// objectGone matches what git prints about an object that it does not find: "bad tree object ...",
// "bad object HEAD", "unable to parse object: <ref>", "<ref> does not point to a valid object!".
var objectGone = regexp.MustCompile(`bad (\w+ )?object|unable to (parse|read)|not point to a valid object`)

// A gc that prunes unreachable objects at once runs in a loop. Each save ends with all its
// objects. A gc that starts between a save's last check and its move can delete one of them,
// and see it missing before the save writes it again: such a gc fails, and nothing is lost.
func TestTortureGC(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	v.manyBlobs(50)
	printed := newSaves()
	var others beside
	collected, gaps := 0, 0
	others.loop(func(i int) {
		o := v.try("git", "gc", "--prune=now", "--quiet")
		if objectGone.MatchString(o.err) {
			gaps++
		} else {
			v.tidied(o)
		}
		collected = i + 1
	})
	for i := range dose(1000) {
		v.stageBlob(i, 50)
		printed.add(t, v.well("git-checkpoint", "save", "42"))
	}
	others.stop()
	t.Logf("%d saves beside %d runs of gc, %d of which saw an object missing", len(printed.ids), collected, gaps)
	assert.LessOrEqual(t, gaps, 1+collected/20)
	v.holds("42", printed.ids)
	v.git("fsck", "--connectivity-only", "--no-dangling")
	v.git("gc", "--prune=now", "--quiet")
	v.sound()
}

// manyBlobs creates blobs that a branch keeps reachable, so that objects that git's own
// commands lose to a gc do not affect the test.
func (v *victim) manyBlobs(n int) {
	v.t.Helper()
	for i := range n {
		v.write(fmt.Sprintf("blobs/%d", i), fmt.Sprintf("blob %d\n", i))
	}
	v.git("checkout", "-q", "-b", "blobs")
	v.git("add", "blobs")
	v.git("commit", "-qm", "blobs")
	v.git("checkout", "-q", "main")
}

// stageBlob stages one of these blobs under a new name.
func (v *victim) stageBlob(i, n int) {
	v.t.Helper()
	blob := v.git("rev-parse", fmt.Sprintf("blobs:blobs/%d", i%n))
	v.git("update-index", "--add", "--cacheinfo", fmt.Sprintf("100644,%s,staged/%d/%d", blob, i%7, i))
}

// Saves to many issues, and to one issue with concurrent prune, pin and drop, while a
// user works in the same worktree.
func TestTortureTogether(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	v.git("config", "checkpoint.limits.capture-ms", "60000") // 18 saves of one worktree wait for each other
	const issues = 8
	rounds := dose(60)
	printed := make([]*saves, issues)
	dropped := newSaves()
	var group sync.WaitGroup
	for i := range issues {
		printed[i] = newSaves()
		for range 2 {
			group.Go(func() {
				for range rounds {
					printed[i].add(t, v.works("git-checkpoint", "save", fmt.Sprintf("ISSUE-%d", i)).out)
				}
			})
		}
	}
	group.Go(func() {
		for range rounds {
			// A save can warn that the user's file changed while it was read.
			id := v.works("git-checkpoint", "save", "ISSUE-0").out
			printed[0].add(t, id)
			v.well("git-checkpoint", "pin", "ISSUE-0", id)
			gone := v.works("git-checkpoint", "save", "ISSUE-0", "-m", "to be dropped").out
			v.well("git-checkpoint", "prune", "ISSUE-0")
			v.try("git-checkpoint", "drop", "ISSUE-0", gone, "--yes")
			dropped.add(t, gone)
		}
	})
	var person beside
	person.loop(func(i int) {
		v.write("work.txt", strings.Repeat("work\n", i+1))
		v.well("git", "add", "work.txt")
		v.well("git", "commit", "-qm", "work")
		v.write("work.txt", "half done\n")
		v.well("git", "stash", "-q")
		v.well("git", "stash", "pop", "-q")
	})
	group.Wait()
	person.stop()
	for i := range issues {
		v.holds(fmt.Sprintf("ISSUE-%d", i), printed[i].ids)
	}
	assert.Len(t, dropped.ids, rounds)
	v.sound()
	assert.Empty(t, v.locks())
}

// Another process repeatedly deletes the chain's ref during saves. No printed id is lost.
func TestTortureDeletedRef(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	printed := newSaves()
	printed.add(t, v.tool("save", "42"))
	deleting := beside{pause: 5 * time.Millisecond}
	deleting.loop(func(int) { v.try("git", "update-ref", "-d", "refs/checkpoints/42") })
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range dose(200) / 4 {
				printed.add(t, v.works("git-checkpoint", "save", "42").out)
			}
		})
	}
	writers.Wait()
	deleting.stop()
	v.tool("doctor", "--fix")
	have := v.ids("42")
	for id := range printed.ids {
		assert.Contains(t, have, id)
	}
	v.sound()
}
