package forge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"git-checkpoint/freshness/issue"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
)

// Issue requests an issue until the context ends. It returns a *RequestError, or an error
// if the issue is not a number.
func (f *Forge) Issue(ctx context.Context, key checkpoint.Issue) (*issue.Issue, error) {
	found, err := f.ask(ctx, key)
	return found.issue, err
}

// Seen returns the cached issue and the time of its last request. It sends no request.
func (f *Forge) Seen(key checkpoint.Issue) (*issue.Issue, time.Time) {
	kept, _, _ := f.find(key)
	return kept.Issue, kept.Seen
}

func (f *Forge) ask(ctx context.Context, key checkpoint.Issue) (found, error) {
	kept, number, ok := f.find(key)
	if !ok {
		return found{}, fmt.Errorf("issue %s is not a number, but %s numbers its issues", key, dialects()[f.Site.Kind].title)
	}
	address := kept.URL
	c := f.SignIn.Find(ctx, f.Site)
	if kept.Wait.After(f.Now()) && kept.As == c.From {
		return found{}, f.limited(kept.Wait, c)
	}
	r, err := f.send(ctx, http.MethodGet, address, nil, c)
	if err == nil && r.status == http.StatusUnauthorized && c.spare {
		// A saved git password may have expired; public issues need no credential.
		if open, err := f.send(ctx, http.MethodGet, address, nil, Credential{}); err == nil && open.ok() {
			r, c = open, Credential{}
		}
	}
	if err != nil {
		return found{}, err
	}
	now, err := f.read(r, c, kept, number)
	return found{now, r.url.String(), c}, err
}

// found is an issue, its URL and the credential used.
type found struct {
	issue   *issue.Issue
	address string // API URL after redirects
	as      Credential
}

// entryVersion increases if stored fields change their meaning.
const entryVersion = 1

// find returns the cached entry and the number of an issue, and false if the issue is not a number.
func (f *Forge) find(key checkpoint.Issue) (kept entry, number int64, ok bool) {
	if number, ok = key.Number(); ok {
		kept = f.load(f.Site.api(strconv.FormatInt(number, 10)))
	}
	return kept, number, ok
}

// load returns the cached entry of a URL, or an empty entry if none is usable.
func (f *Forge) load(address string) entry {
	empty := entry{Version: entryVersion, URL: address}
	if f.Cache == "" {
		return empty
	}
	file, err := os.Open(f.entryFile(address))
	if err != nil {
		return empty
	}
	defer file.Close()
	var e entry
	info, err := file.Stat()
	if err != nil || info.Size() > 2*issue.MaxBytes || json.NewDecoder(file).Decode(&e) != nil || e.Version != entryVersion || e.URL != address {
		return empty
	}
	return e
}

// An entry is the cached response to one request. The cache is optional: read and write
// errors are treated as a missing entry.
type entry struct {
	Version int          `json:"version"`
	URL     string       `json:"url"`
	Seen    time.Time    `json:"seen"`
	Issue   *issue.Issue `json:"issue,omitempty"`
	Wait    time.Time    `json:"wait,omitzero"` // end of the forge's rate limit
	As      string       `json:"as,omitempty"`  // origin of the credential used
}

func (f *Forge) entryFile(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(f.Cache, hex.EncodeToString(sum[:16])+".json")
}

// read parses a reply into an issue and updates the cache.
func (f *Forge) read(r *reply, c Credential, kept entry, number int64) (*issue.Issue, error) {
	what := "issue " + strconv.FormatInt(number, 10)
	switch {
	case r.status != http.StatusOK:
		err := f.refused(r, c, "read", what)
		switch {
		case !err.Until.IsZero():
			kept.Wait, kept.As = err.Until, c.From
			f.store(kept)
		case r.status < http.StatusInternalServerError && kept.Issue != nil:
			kept.Seen = time.Time{} // deleted, or not visible with this credential
			f.store(kept)
		}
		return nil, err
	case !r.whole:
		return nil, f.failed("%s is larger than %d MiB", what, issue.MaxBytes>>20)
	}
	now, err := issue.ParseAnswer(r.body, dialects()[f.Site.Kind].names)
	switch {
	case err != nil:
		return nil, f.failed("%s: %v", what, err)
	case now.Number != number:
		return nil, f.failed("%s was moved, and is issue %d of another project now", what, now.Number)
	}
	now.Source = f.Site.issueURL(strconv.FormatInt(number, 10))
	f.store(entry{Version: entryVersion, URL: kept.URL, Seen: f.Now(), Issue: now.Issue, As: c.From})
	return now.Issue, nil
}

// store atomically replaces the cached entry of a URL.
func (f *Forge) store(e entry) {
	if f.Cache == "" || os.MkdirAll(f.Cache, 0o700) != nil {
		return
	}
	f.share(filepath.Dir(f.Cache), f.Cache)
	data, err := json.Marshal(e)
	if err != nil {
		return
	}
	options := fsutil.ReplaceOptions{Temp: "new-", Mode: 0o600, Prepare: func(temp *os.File) error {
		f.share(temp.Name())
		return nil
	}}
	_ = fsutil.ReplaceFile(f.entryFile(e.URL), bytes.NewReader(data), options)
}

func (f *Forge) share(paths ...string) {
	if f.Share != nil {
		f.Share(paths...)
	}
}
