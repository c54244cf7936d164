package remote

import (
	"context"
	"time"
)

// fetchTries bounds how many connections may fail while it is found out which
// refs a remote cannot give.
const fetchTries = 24

// A fetcher fetches refs over few connections. One that the remote cannot give
// fails a fetch as a whole: a file of it is gone there, or git refuses what
// came. The others are fetched without it then.
type fetcher struct {
	conn    *Conn
	depth   int
	to      func(ref string) string // where it goes here
	failed  map[string]error
	fetched bool // a connection did what it should
	tries   int
	until   time.Time // no more is tried then, zero for no such time
}

// fetch fetches refs. If that fails, it fetches each half of them.
func (b *fetcher) fetch(ctx context.Context, refs []string) error {
	specs := make([]string, len(refs))
	for n, ref := range refs {
		specs[n] = ref + ":" + b.to(ref)
	}
	start := time.Now()
	err := b.conn.fetch(ctx, b.depth, specs)
	switch {
	case err == nil:
		b.fetched = true
		return nil
	case ctx.Err() != nil:
		return err
	}
	if b.tries == 0 && b.conn.Timeout > 0 {
		b.until = start.Add(b.conn.Timeout)
	}
	b.tries++
	if len(refs) == 1 || b.enough() {
		for _, ref := range refs {
			b.failed[ref] = err
		}
		return err
	}
	half := len(refs) / 2
	if err := b.fetch(ctx, refs[:half]); ctx.Err() != nil {
		return err
	}
	if rest := b.fetch(ctx, refs[half:]); rest != nil {
		return rest
	}
	return err
}

// enough reports whether it is to be left at what is known.
func (b *fetcher) enough() bool {
	return b.tries >= fetchTries || !b.until.IsZero() && time.Now().After(b.until)
}
