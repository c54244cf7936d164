package storetest_test

import (
	"context"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"
)

// travels are the refs that are copied between repositories.
var travels = []string{"refs/checkpoints", "refs/checkpoints-archive"}

// A copied is a repository that receives refs of another repository.
type copied interface {
	fresh() *gitstore.Store // updated repository
}

// An elsewhere writes to a repository and reads from a copy.
type elsewhere struct {
	*gitstore.Store
	copy copied
}

func (e *elsewhere) Issues(ctx context.Context, archived bool) ([]checkpoint.Issue, []string, error) {
	return e.copy.fresh().Issues(ctx, archived)
}

func (e *elsewhere) List(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error) {
	return e.copy.fresh().List(ctx, i, limit)
}

func (e *elsewhere) Archived(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error) {
	return e.copy.fresh().Archived(ctx, i, limit)
}

func (e *elsewhere) Find(ctx context.Context, i checkpoint.Issue, name string) (*gitstore.Checkpoint, error) {
	return e.copy.fresh().Find(ctx, i, name)
}

func (e *elsewhere) RecordBytes(c *gitstore.Checkpoint) ([]byte, error) {
	return e.copy.fresh().RecordBytes(c)
}

func (e *elsewhere) VerifiedRecord(c *gitstore.Checkpoint) (*checkpoint.Record, error) {
	return e.copy.fresh().VerifiedRecord(c)
}

func (e *elsewhere) Verify(ctx context.Context, i checkpoint.Issue) (*gitstore.Report, error) {
	return e.copy.fresh().Verify(ctx, i)
}

// refsOf returns the copied refs and their values.
func refsOf(r *gittest.Repo) string {
	return r.Git(append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, travels...)...)
}

// A bundle copies the refs to a new repository with git bundle after each change.
type bundle struct {
	t    testing.TB
	from *gittest.Repo
	open func(dir string) *gitstore.Store
	last string
	at   *gitstore.Store
}

func (b *bundle) fresh() *gitstore.Store {
	refs := refsOf(b.from)
	if b.at != nil && refs == b.last {
		return b.at
	}
	to := b.from.In(filepath.Join(b.t.TempDir(), "unbundled"))
	b.from.Git("init", "-q", "--template=", to.Dir)
	if refs != "" {
		file := b.pack()
		to.Git("fetch", "-q", "--no-tags", file, travels[0]+"/*:"+travels[0]+"/*", travels[1]+"/*:"+travels[1]+"/*")
	}
	b.last, b.at = refs, b.open(to.Dir)
	return b.at
}

// pack creates a bundle. It retries if a ref moves meanwhile, because git omits such
// refs.
func (b *bundle) pack() (file string) {
	file = filepath.Join(b.t.TempDir(), "bundle")
	for range 100 {
		_, err := b.from.Run(nil, "bundle", "create", "-q", file, "--glob="+travels[0], "--glob="+travels[1])
		if err == nil {
			return file
		}
	}
	b.t.Fatal("the refs keep moving")
	return ""
}

// A clone synchronizes two clones through a shared remote after each change.
type clone struct {
	t        testing.TB
	from, to *gitstore.Store
	refs     *gittest.Repo
	last     string
}

func (c *clone) fresh() *gitstore.Store {
	if refs := refsOf(c.refs); refs != c.last {
		synchronize(c.t, c.from)
		synchronize(c.t, c.to)
		c.last = refs
	}
	return c.to
}
