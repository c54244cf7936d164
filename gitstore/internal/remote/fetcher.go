package remote

import (
	"context"
	"time"
)

// fetchTries limits failed connections during the search for refs that a remote cannot
// send.
const fetchTries = 24

// A fetcher fetches many refs over few connections. One bad ref fails the whole fetch,
// for example because of a missing object at the remote or a failed local check. The
// fetcher then fetches the other refs without it.
type fetcher struct {
	conn    *Conn
	depth   int
	to      func(ref string) string // returns the local name of a ref
	failed  map[string]error
	fetched bool // at least one connection succeeded
	tries   int
	until   time.Time // deadline for further tries, zero means unlimited
}

// fetch fetches refs. If this fails, it fetches each half separately.
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

// enough reports whether the limit of tries or time is reached.
func (b *fetcher) enough() bool {
	return b.tries >= fetchTries || !b.until.IsZero() && time.Now().After(b.until)
}
