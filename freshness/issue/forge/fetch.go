package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"git-checkpoint/freshness/issue"
	"git-checkpoint/gitstore/checkpoint"
)

// Issue requests an issue until the context ends. It returns a *RequestError, or an error
// if the issue is not a number.
func (f *Forge) Issue(ctx context.Context, key checkpoint.Issue) (*issue.Issue, error) {
	found, err := f.ask(ctx, key)
	if err != nil {
		return nil, err
	}
	return found.issue, nil
}

// found is an issue, its URL and the credential used.
type found struct {
	issue   *issue.Issue
	address string // API URL after redirects
	as      Credential
}

func (f *Forge) ask(ctx context.Context, key checkpoint.Issue) (found, error) {
	number, ok := key.Number()
	if !ok {
		return found{}, fmt.Errorf("issue %s is no number, and %s counts its issues", key, f.Site.Kind.title())
	}
	address := f.Site.api(strconv.FormatInt(number, 10))
	kept := f.load(address)
	c := f.SignIn.Find(ctx, f.Site)
	if kept.Wait.After(f.now()) && kept.As == c.From {
		return found{}, f.limited(kept.Wait, c)
	}
	r, err := f.get(ctx, address, kept.ETag, c)
	if err == nil && r.status == http.StatusUnauthorized && c.spare {
		// A saved git password may have expired; public issues need no credential.
		if open, err := f.get(ctx, address, "", Credential{}); err == nil && open.ok() {
			r, c = open, Credential{}
		}
	}
	if err != nil {
		return found{}, err
	}
	now, err := f.read(r, c, kept, number)
	return found{now, r.url.String(), c}, err
}

func (f *Forge) get(ctx context.Context, address, etag string, c Credential) (*reply, error) {
	req, err := request(http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	return f.send(ctx, req, c)
}

// read parses a reply into an issue and updates the cache.
func (f *Forge) read(r *reply, c Credential, kept entry, number int64) (*issue.Issue, error) {
	what := "issue " + strconv.FormatInt(number, 10)
	switch {
	case r.status == http.StatusNotModified && kept.ETag != "":
		kept.Seen, kept.Wait, kept.As = f.now(), time.Time{}, c.From
		f.store(kept)
		return kept.Issue, nil
	case r.status != http.StatusOK:
		err := f.refused(r, c, question{"read", what})
		var e *RequestError
		switch {
		case errors.As(err, &e) && !e.Until.IsZero():
			kept.Wait, kept.As = e.Until, c.From
			f.store(kept)
		case r.status < http.StatusInternalServerError && kept.Issue != nil:
			kept.Seen = time.Time{} // deleted, or not visible with this credential
			f.store(kept)
		}
		return nil, err
	case !r.whole:
		return nil, f.failed("%s is larger than %d MiB", what, issue.MaxBytes>>20)
	}
	now, err := issue.ParseAnswer(r.body, f.Site.names())
	switch {
	case err != nil:
		return nil, f.failed("%s: %v", what, err)
	case now.Number != number:
		return nil, f.failed("%s was moved, and is issue %d of another project now", what, now.Number)
	}
	now.Source = f.Site.IssueURL(strconv.FormatInt(number, 10))
	fresh := entry{Version: entryVersion, URL: kept.URL, Seen: f.now(), Issue: now.Issue, As: c.From}
	if tag := r.header.Get("ETag"); plainETag(tag) {
		fresh.ETag = tag
	}
	f.store(fresh)
	return now.Issue, nil
}

// Seen returns the cached issue and the time of its last request. It sends no request.
func (f *Forge) Seen(key checkpoint.Issue) (*issue.Issue, time.Time) {
	number, ok := key.Number()
	if !ok {
		return nil, time.Time{}
	}
	kept := f.load(f.Site.api(strconv.FormatInt(number, 10)))
	return kept.Issue, kept.Seen
}
