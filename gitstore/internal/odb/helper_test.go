package odb

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// fixture returns a repository with loose objects and a history of the given length.
func fixture(t testing.TB, commits int) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	var in strings.Builder
	body := strings.Repeat("a line that repeats in every version\n", 200)
	for i := range commits {
		body += fmt.Sprintf("line %d\n", i)
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter A <a@example.com> %d +0000\n", 1e9+i)
		data(&in, fmt.Sprintf("commit %d\n\n%s", i, strings.Repeat("why ", i%7)))
		fmt.Fprint(&in, "M 100644 inline big.txt\n")
		data(&in, body)
		fmt.Fprintf(&in, "M 100644 inline dir/%d.txt\n", i)
		data(&in, fmt.Sprintf("file %d\n", i))
	}
	fmt.Fprintf(&in, "tag v1\nfrom refs/heads/main\ntagger A <a@example.com> 1000000000 +0000\n")
	data(&in, "a tag\n")
	r.Pipe([]byte(in.String()), "-c", "fastimport.unpackLimit=100000", "fast-import", "--quiet")
	r.Git("reset", "-q", "--hard")
	return r
}

func data(in *strings.Builder, s string) { fmt.Fprintf(in, "data %d\n%s\n", len(s), s) }

// open opens the object database of r.
func open(t testing.TB, r *gittest.Repo, change ...func(*Config)) *Database {
	t.Helper()
	c := Config{Dir: r.GitPath("objects"), Git: git.Git{Dir: r.Dir, Env: r.Env()}}
	for _, f := range change {
		f(&c)
	}
	s, err := Open(c)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// An info is an object as git reads it.
type info struct {
	hash    plumbing.Hash
	kind    string
	content []byte
}

// everything returns all objects of r, read by git.
func everything(t testing.TB, r *gittest.Repo) []info {
	t.Helper()
	out := r.Pipe(nil, "cat-file", "--batch", "--batch-all-objects")
	var all []info
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte{'\n'})
		f := strings.Fields(string(line))
		require.Len(t, f, 3)
		n, err := strconv.Atoi(f[2])
		require.NoError(t, err)
		all = append(all, info{plumbing.NewHash(f[0]), f[1], rest[:n]})
		out = rest[n+1:]
	}
	require.NotEmpty(t, all)
	return all
}

// requireSame reads each object of r through s and compares it with git's output.
func requireSame(t testing.TB, s *Database, r *gittest.Repo) {
	t.Helper()
	for _, o := range everything(t, r) {
		requireObject(t, s, o)
	}
}

func requireObject(t testing.TB, s *Database, o info) {
	t.Helper()
	kind, content, err := s.Read(o.hash)
	require.NoError(t, err, o.hash)
	require.Equal(t, o.kind, kind.String())
	require.True(t, bytes.Equal(o.content, content), o.hash)
	kind, size, err := s.Header(o.hash)
	require.NoError(t, err)
	require.Equal(t, o.kind, kind.String())
	require.Equal(t, int64(len(o.content)), size)
	require.True(t, s.Has(o.hash))
}

// absent is the hash of an object that no test creates.
var absent = plumbing.NewHash(strings.Repeat("0f", objectformat.Size))

func requireAbsent(t testing.TB, s *Database, h plumbing.Hash) {
	t.Helper()
	_, _, err := s.Read(h)
	require.ErrorIs(t, err, plumbing.ErrObjectNotFound)
	_, _, err = s.Header(h)
	require.ErrorIs(t, err, plumbing.ErrObjectNotFound)
	require.False(t, s.Has(h))
}

// flush makes the objects of a batch durable as loose objects.
func (b *Batch) flush() error { return b.Install(context.Background(), math.MaxInt) }

func deflate(content []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(content)
	_ = z.Close()
	return b.Bytes()
}

// loosen writes a loose object.
func loosen(t testing.TB, s *Database, h plumbing.Hash, data []byte) {
	t.Helper()
	path := s.loosePath(h)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, data, 0o666))
}

func days(n int) time.Time { return time.Now().AddDate(0, 0, -n) }
