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

// Issue asks for an issue, until the context ends. The error is a *RequestError, or
// says that the issue is no number.
func (f *Forge) Issue(ctx context.Context, key checkpoint.Issue) (*issue.Issue, error) {
	found, err := f.ask(ctx, key)
	if err != nil {
		return nil, err
	}
	return found.issue, nil
}

// found is an issue and how it was found.
type found struct {
	issue   *issue.Issue
	address string // where the API has it, after redirects
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
		// What is saved for git may have expired; what is public needs nothing.
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

// read makes an issue of a reply, and keeps what there is to keep.
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
			kept.Seen = time.Time{} // it is there no more, or not for us
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

// Seen is the issue as the forge had it when it was last asked, and when that
// was. It asks nobody.
func (f *Forge) Seen(key checkpoint.Issue) (*issue.Issue, time.Time) {
	number, ok := key.Number()
	if !ok {
		return nil, time.Time{}
	}
	kept := f.load(f.Site.api(strconv.FormatInt(number, 10)))
	return kept.Issue, kept.Seen
}
