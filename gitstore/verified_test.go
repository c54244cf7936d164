package gitstore

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lose removes an object file.
func (w *world) lose(rev string) string {
	w.t.Helper()
	hash := w.Git("rev-parse", rev)
	require.NoError(w.t, os.Remove(w.loose(hash)))
	return hash
}

func (w *world) loose(hash string) string { return w.GitPath("objects/" + hash[:2] + "/" + hash[2:]) }

// rot replaces the content of an object file with another object.
func (w *world) rot(rev string) string {
	w.t.Helper()
	hash, other := w.Git("rev-parse", rev), w.Hash("something else")
	data, err := os.ReadFile(w.loose(other))
	require.NoError(w.t, err)
	require.NoError(w.t, os.Remove(w.loose(hash)))
	require.NoError(w.t, os.WriteFile(w.loose(hash), data, 0o444))
	return hash
}

// Verify names the object for every kind of damage, and continues.
func TestVerifyReportsDamage(t *testing.T) {
	gittest.Slow(t)
	const tip = "refs/checkpoints/42"
	for name, c := range map[string]struct {
		harm func(w *world) string // returns the name that the report must contain
		want string
	}{
		"a missing blob":   {func(w *world) string { return w.lose(tip + ":staged/a.txt") }, "missing"},
		"a missing tree":   {func(w *world) string { return w.lose(tip + ":staged/dir") }, "not found"},
		"a missing record": {func(w *world) string { return w.lose(tip + ":checkpoint.yaml") }, "checkpoint.yaml"},
		"a missing commit": {func(w *world) string { return w.lose(tip + "~1") }, "refs/checkpoints/42"},
		"a missing tip":    {func(w *world) string { return w.lose(tip) }, "refs/checkpoints/42"},
		"a missing state":  {func(w *world) string { return w.lose(tip + "^2") }, "state commit"},
		"a missing index":  {func(w *world) string { return w.lose(tip + "^2^2") }, "index commit"},
		"a missing HEAD":   {func(w *world) string { return w.lose(tip + "^2^") }, "HEAD"},
		"a rotten blob":    {func(w *world) string { return w.rot(tip + ":staged/a.txt") }, "staged/a.txt"},
		"another HEAD":     {func(w *world) string { return w.otherHead() }, "HEAD is"},
		"a rotten tree":    {func(w *world) string { return w.rot(tip + ":staged/dir") }, ""},
		"a bad record": {func(w *world) string {
			w.graft("CP-x-y-0000aaaa", "checkpoint.yaml", "a: [\n")
			return "CP-x-y-0000aaaa"
		}, "line"},
		"no record": {func(w *world) string {
			return w.onTop(w.Git("rev-parse", tip+"^{tree}:staged"), "x\n\nCheckpoint-Id: CP-x-y-0000aaaa\n", tip, tip+"^2")[:0]
		}, "no checkpoint.yaml"},
		"a newer record": {func(w *world) string {
			w.graft("CP-x-y-0000aaaa", "checkpoint.yaml", "version: \"9.0\"\n")
			return "CP-x-y-0000aaaa"
		}, "9.0"},
		"trailers that differ": {func(w *world) string { w.graft("CP-x-y-0000aaaa", "", ""); return "CP-x-y-0000aaaa" }, "checkpoint_id"},
		"a foreign commit":     {func(w *world) string { return w.graft("", "", "") }, "no Checkpoint-Id"},
		"a bad ledger":         {func(w *world) string { w.graft("CP-x-y-0000aaaa", "ledger", "banished x\n"); return tip }, "ledger: line 1"},
		"a bad name":           {func(w *world) string { return w.badName() }, "is not a valid file name"},
		"a path twice":         {func(w *world) string { return w.inState("100644 x", "100644 x") }, "twice"},
		"a device":             {func(w *world) string { return w.inState("60000 x") }, "no mode of a file: 60000"},
		"no mode":              {func(w *world) string { return w.inState("0 x") }, "no mode of a file: 0"},
		"a long path":          {func(w *world) string { return w.inState("100644 " + strings.Repeat("n", 5000))[:9] }, "path of 5006 bytes"},
		"a bad ref":            {func(w *world) string { must(os.WriteFile(w.GitPath(tip), nil, 0o666)); return tip }, "broken ref"},
		"one id twice": {func(w *world) string {
			newest := w.Pipe(nil, "cat-file", "commit", tip)
			copied := bytes.Replace(newest, []byte("parent "+w.Git("rev-parse", tip+"^")), []byte("parent "+w.Git("rev-parse", tip)), 1)
			w.Git("update-ref", tip, strings.TrimSpace(string(w.Pipe(copied, "hash-object", "-t", "commit", "-w", "--stdin"))))
			return string(w.live()[1])
		}, "two commits"},
		"no state commit": {func(w *world) string { return w.onTop(tip+"^{tree}", message(w, tip), tip+"~1")[:0] }, "no state commit"},
		"another state commit": {func(w *world) string {
			return w.onTop(tip+"^{tree}", message(w, tip), tip+"~1", "HEAD")[:0]
		}, "has 0 parents"},
		"a state commit of another checkpoint": {func(w *world) string {
			return w.onTop(tip+"^{tree}", message(w, tip), tip+"~1", tip+"~1^2")[:0]
		}, "the message of the state commit"},
		"another index commit": {func(w *world) string {
			state := strings.TrimSpace(string(w.Pipe([]byte("x\n"), "commit-tree", tip+"^2^{tree}", "-p", tip+"^2^", "-p", strings.TrimSpace(string(w.Pipe([]byte("x\n"), "commit-tree", tip+":staged/dir"))))))
			return w.onTop(tip+"^{tree}", message(w, tip), tip+"~1", state)[:0]
		}, "staged/"},
		"another author of the state": {func(w *world) string {
			message := w.Git("log", "-1", "--format=%B", tip+"^2") + "\n"
			state := strings.TrimSpace(string(w.Pipe([]byte(message), "commit-tree", tip+"^2^{tree}", "-p", tip+"^2^", "-p", tip+"^2^2")))
			return w.onTop(tip+"^{tree}", w.Git("log", "-1", "--format=%B", tip)+"\n", tip+"~1", state)[:0]
		}, "are not those of its author"},
		"an unknown entry": {func(w *world) string { return w.inTree("100644 blob " + w.Hash("x") + "\tworktree") }, "its tree has \"worktree\""},
		"a symlink":        {func(w *world) string { return w.inTree("120000 blob " + w.Hash("x") + "\tx-link") }, "its tree has \"x-link\""},
		"no genesis":       {func(w *world) string { w.onTop(tip+"^{tree}", message(w, tip)); return tip }, "genesis"},
		"a branch":         {func(w *world) string { w.Git("update-ref", tip, "HEAD"); return tip }, "genesis"},
		"another issue": {func(w *world) string {
			w.onTop(tip+"^{tree}", strings.ReplaceAll(message(w, tip), "Issue: 42", "Issue: 43"), tip+"~1", tip+"^2")
			return "43"
		}, "belongs to"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("a.txt", "staged\n")
			w.Write("dir/b.txt", "staged too\n")
			w.Git("add", "-A")
			w.manual(2)
			w.sound()
			named := c.harm(w)
			report, err := w.open(w.Dir).Verify(ctx, "42")
			require.NoError(t, err)
			text := strings.Join(report.Errors, "\n")
			assert.Contains(t, text, c.want)
			assert.Contains(t, text, named)
		})
	}
}

func message(w *world, rev string) string { return w.Git("log", "-1", "--format=%B", rev) + "\n" }

// inTree grafts a tree with an additional entry.
func (w *world) inTree(entry string) string {
	w.t.Helper()
	tip := "refs/checkpoints/42"
	tree := strings.TrimSpace(string(w.Pipe([]byte(string(w.Pipe(nil, "ls-tree", "-z", tip))+entry+"\x00"), "mktree", "-z")))
	return w.onTop(tree, message(w, tip), tip+"~1", tip+"^2")[:0]
}

// otherHead grafts a checkpoint whose state commit has another parent.
func (w *world) otherHead() string {
	w.t.Helper()
	tip := "refs/checkpoints/42"
	other := w.Commit("other")
	state := strings.TrimSpace(string(w.Pipe([]byte("x\n"), "commit-tree", tip+"^2^{tree}", "-p", other, "-p", tip+"^2^2")))
	w.onTop(tip+"^{tree}", message(w, tip), tip+"~1", state)
	return other
}

// badName grafts a tree with an invalid name.
func (w *world) badName() string {
	w.t.Helper()
	tip := "refs/checkpoints/42"
	entries := string(w.Pipe(nil, "ls-tree", "-z", tip)) + "100644 blob " + w.Hash("x") + "\tgit~1\x00"
	tree := strings.TrimSpace(string(w.Pipe([]byte(entries), "mktree", "-z")))
	w.onTop(tree, message(w, tip), tip+"~1", tip+"^2")
	return "git~1"
}

// inState grafts the tree state/ with these entries, each "<mode> <name>", and returns the last
// path.
func (w *world) inState(entries ...string) (path string) {
	w.t.Helper()
	blob := plumbing.NewHash(w.Hash("x"))
	var tree strings.Builder
	for _, e := range entries {
		tree.WriteString(e + "\x00" + string(blob[:]))
		_, path, _ = strings.Cut(e, " ")
	}
	w.graftState(strings.TrimSpace(string(w.Pipe([]byte(tree.String()), "hash-object", "-t", "tree", "-w", "--stdin", "--literally"))))
	return path
}

// graftState replaces issue 42's tip with a copy that has another state.
func (w *world) graftState(tree string) {
	w.t.Helper()
	tip := "refs/checkpoints/42"
	entries := strings.ReplaceAll(string(w.Pipe(nil, "ls-tree", "-z", tip)), w.Git("rev-parse", tip+":state")+"\tstate", tree+"\tstate")
	top := strings.TrimSpace(string(w.Pipe([]byte(entries), "mktree", "-z")))
	state := strings.TrimSpace(string(w.Pipe([]byte(w.Git("log", "-1", "--format=%B", tip+"^2")+"\n"), "commit-tree", tree, "-p", tip+"^2^", "-p", tip+"^2^2")))
	w.onTop(top, message(w, tip), tip+"~1", state)
}

// Snapshots with few trees but more files than any disk can hold are rejected by every
// operation that lists files.
func TestSnapshotWithTooManyDirectories(t *testing.T) {
	gittest.Slow(t)
	w := newWorld(t)
	good := w.save(w.request(checkpoint.Manual))
	w.save(w.request(checkpoint.Manual))
	tree, name := w.Git("rev-parse", "HEAD^{tree}"), strings.Repeat("n", 250) // long paths fill memory faster
	for range 12 {
		var entries strings.Builder
		for i := range 16 {
			fmt.Fprintf(&entries, "040000 tree %s\t%s%02d\x00", tree, name, i)
		}
		tree = strings.TrimSpace(string(w.Pipe([]byte(entries.String()), "mktree", "-z")))
	}
	w.graftState(tree)
	w.Git("update-ref", "refs/git-checkpoint/own/42", "refs/checkpoints/42")
	s := w.open(w.Dir)
	c, err := s.Newest(ctx, "42")
	require.NoError(t, err)
	_, err = s.Restorer.Plan(ctx, c, nil)
	assert.ErrorContains(t, err, "too many directories")
	_, err = s.Files.Compare(nil, c)
	assert.ErrorContains(t, err, "too many directories")
	report, err := s.Verify(ctx, "42")
	require.NoError(t, err)
	assert.Contains(t, strings.Join(report.Errors, "\n"), "too many directories")
	valid, _, err := s.NewestValid(ctx, "42")
	require.NoError(t, err)
	assert.Equal(t, good.ID, valid.ID)
}

// Walks from a ref that was set to a branch are limited.
func TestWalkOfForeignChainIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var in strings.Builder
	in.WriteString("reset refs/heads/long\nfrom refs/heads/main\n\n")
	for range 5000 {
		in.WriteString("commit refs/heads/long\ncommitter A <a@x> 1 +0000\ndata 1\nx\n")
	}
	w.Pipe([]byte(in.String()), "fast-import", "--quiet")
	w.Git("update-ref", "refs/checkpoints/42", "refs/heads/long")
	l, err := w.s.List(ctx, "42", 0)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(l.Checkpoints), chain.MaxForeign+1)
	assert.False(t, l.Complete)

	saved := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, w.Git("rev-parse", "refs/heads/long"), w.Git("rev-parse", saved.Commit.String()+"^"))
	require.NoError(t, w.s.Drop(ctx, "42", []checkpoint.ID{saved.ID}))
}

// Foreign commits on top hide neither pins nor deletions.
func TestForeignTipKeepsTheLedger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(2)
	_, err := w.s.Pin(ctx, "42", ids[0], true)
	require.NoError(t, err)
	require.NoError(t, w.s.Drop(ctx, "42", ids[1:]))
	w.onTop("HEAD^{tree}", "foreign\n", "refs/checkpoints/42")
	c, err := w.s.Find(ctx, "42", string(ids[0]))
	require.NoError(t, err)
	assert.True(t, c.Pinned)
	saved := w.save(w.request(checkpoint.Manual))
	assert.Regexp(t, "^last pin "+string(ids[0])+" 1 [0-9]+\nset deleted "+string(ids[1])+" [*] "+string(ids[0])+"$", w.Git("cat-file", "blob", saved.Commit.String()+":ledger"))
}

// Parentless checkpoints, which no store creates, can be archived and dropped.
func TestRootlessCheckpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(1)
	w.onTop("refs/checkpoints/42^{tree}", message(w, "refs/checkpoints/42"))
	_, err := w.s.Archive(ctx, "42", ids, retention.ReasonAsked)
	require.NoError(t, err)
	assert.Equal(t, ids, w.archived())
	require.NoError(t, w.s.Drop(ctx, "42", ids))
}

// A Verification reads what issues share once, and reports a damaged object for each issue that
// has it.
func TestVerificationOfSeveralIssues(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(*world){
		"a rotten blob":  func(w *world) { w.rot("refs/checkpoints/many-00:staged/a.txt") },
		"a missing blob": func(w *world) { w.lose("refs/checkpoints/many-00:staged/a.txt") },
		"a missing tree": func(w *world) { w.lose("refs/checkpoints/many-00:staged/dir") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			issues := w.many(3)
			run := w.s.Doctor.Verification()
			for _, i := range issues {
				report, err := run.Verify(ctx, i)
				require.NoError(t, err)
				require.Empty(t, report.Errors)
			}
			harm(w)
			report, err := run.Verify(ctx, issues[1])
			require.NoError(t, err)
			require.Empty(t, report.Errors, "the object is read once")
			run = w.open(w.Dir).Doctor.Verification()
			for _, i := range issues {
				report, err := run.Verify(ctx, i)
				require.NoError(t, err)
				require.NotEmpty(t, report.Errors, i)
			}
		})
	}
}
