package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tracedOpen and tracedRead are an open and a read of packed-refs in a trace. A read has its result.
var (
	tracedOpen = regexp.MustCompile(`(?m)openat\(.*packed-refs", .* = \d+<`)
	tracedRead = regexp.MustCompile(`(?m)(?:read|pread64)\(\d+<[^>]*packed-refs>.* = (\d+)$`)
)

// packedReads runs the program, and returns how often it and its git processes open packed-refs, and how
// many bytes of the file they read. Git maps a large file, and reads none of it by a call.
func (v *victim) packedReads(args ...string) (opens, bytes int) {
	v.t.Helper()
	log := filepath.Join(v.t.TempDir(), "trace")
	o := v.try("strace", append([]string{"-f", "-y", "-o", log, "-e", "signal=none", "-e", "trace=openat,read,pread64", "git-checkpoint"}, args...)...)
	require.Zero(v.t, o.code, o.name+": "+o.err)
	trace, err := os.ReadFile(log)
	require.NoError(v.t, err)
	for _, call := range tracedRead.FindAllStringSubmatch(string(trace), -1) {
		n, err := strconv.Atoi(call[1])
		require.NoError(v.t, err)
		bytes += n
	}
	return len(tracedOpen.FindAllString(string(trace), -1)), bytes
}

// withRefs adds packed refs of n issues, whose chains are not read.
func (v *victim) withRefs(n int) *victim {
	v.t.Helper()
	tip := v.git("rev-parse", "refs/checkpoints/42")
	var in strings.Builder
	for i := range n {
		fmt.Fprintf(&in, "create refs/checkpoints/%d %s\ncreate refs/git-checkpoint/own/%d %s\n", 1_000_000+i, tip, 1_000_000+i, tip)
	}
	cmd := v.command("git", "update-ref", "--stdin")
	cmd.Stdin = strings.NewReader(in.String())
	require.NoError(v.t, cmd.Run())
	v.git("pack-refs", "--all", "--prune")
	return v
}

// A command for one issue reads a little of packed-refs, whatever the number of issues. A hook of
// an agent or of a checkout looks for the issue of a branch, and reads the names once.
func TestOneIssueReadsLittleOfPackedRefs(t *testing.T) {
	gittest.Slow(t)
	needs(t, "strace")
	v := newVictim(t)
	v.git("checkout", "-qb", "42-work")
	v.tool("save", "42")
	v.withRefs(20_000)
	size, err := os.Stat(v.path(".git/packed-refs"))
	require.NoError(t, err)
	require.Greater(t, size.Size(), int64(2<<20))
	for _, args := range [][]string{
		{"status", "42", "--offline"},
		{"list", "42"},
		{"show", "42"},
		{"resume", "42", "--offline", "--dry-run"},
		{"hook", "session-start", "claude"},
		{"hook", "stop", "claude"},
		{"hook", "post-checkout", "HEAD", "HEAD", "1"},
		{"hook", "pre-push", "origin", "x"},
		{"save", "42"},
		{"verify", "42"},
	} {
		opens, bytes := v.packedReads(args...)
		assert.LessOrEqual(t, opens, 90, "%v", args)
		most := int64(480 << 10)
		if args[0] == "hook" && args[1] != "pre-push" {
			most = size.Size()
		}
		assert.Less(t, int64(bytes), most, "%v", args)
	}
}

// A command for all issues opens packed-refs a few times, whatever the number of issues.
func TestAllIssuesOpenPackedRefsAFewTimes(t *testing.T) {
	gittest.Slow(t)
	needs(t, "strace")
	v := newVictim(t)
	for i := range 60 {
		v.tool("save", strconv.Itoa(100+i))
	}
	v.git("pack-refs", "--all", "--prune")
	for _, c := range []struct {
		args []string
		most int
	}{
		{[]string{"list", "--all"}, 3},
		{[]string{"list", "--all", "--json"}, 3},
		{[]string{"verify"}, 3},
		{[]string{"doctor"}, 10},
		{[]string{"prune", "--all"}, 10},
		{[]string{"list", "-n", "2"}, 50}, // judges two issues
	} {
		opens, _ := v.packedReads(c.args...)
		assert.NotZero(t, opens, "%v", c.args)
		assert.LessOrEqual(t, opens, c.most, "%v", c.args)
	}
}
