package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
)

// An open page asks every few seconds whether checkpoints were saved. As long as the refs stay, the
// answer is 304 and no other file is read. A poll is used instead of a stream of events, because
// browsers open only six connections to a server.

// stateOf returns a name for the state of all chains and the current branch.
func stateOf(ctx context.Context, repo *Repository) (string, error) {
	tips, err := repo.Tips(ctx)
	if err != nil {
		return "", err
	}
	branch, err := repo.Branch(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, i := range slices.Sorted(maps.Keys(tips)) {
		fmt.Fprintf(h, "%s %s\n", tips[i], i.RefName())
	}
	fmt.Fprintf(h, "%s\n", branch)
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// News is what changed since a page was made.
type News struct {
	New     int    `json:"new"`               // number of new checkpoints, or of issues with new checkpoints
	Text    string `json:"text"`              // "2 new checkpoints", or "" if the page shows everything
	Unsaved string `json:"unsaved,omitempty"` // "3 files not saved yet", if the work is here
}

// An open page of the work in this worktree also shows how many files are not saved. All pages share
// one comparison. Comparisons take at most 1/unsavedShare of the time.
const (
	unsavedEvery = 5 * time.Second
	unsavedShare = 50
	maxCompared  = 500 // issues
)

// unsavedFiles is the text about the files of an issue for a state of the refs.
type unsavedFiles struct {
	text, state string
	until       time.Time // the text is new enough
}

// unsavedText returns the text about the files of an issue, or "" if they cannot be compared.
func (v *visit) unsavedText(i checkpoint.Issue) string {
	v.comparing.Lock()
	defer v.comparing.Unlock()
	now := time.Now()
	if k, ok := v.unsaved.get(i); ok && k.state == v.state && now.Before(k.until) {
		return k.text
	}
	text := ""
	if p, err := v.repo.Point(v.ctx, i); err == nil {
		if n, err := v.repo.NotSaved(p.Checkpoint); err == nil {
			text = view.NotSavedText(n)
		}
	}
	took := time.Since(now)
	v.unsaved.put(i, unsavedFiles{text, v.state, now.Add(max(unsavedEvery, unsavedShare*took))}, maxCompared)
	return text
}

// Live holds the parameters of a page's polls.
type Live struct{ URL, State string }

// live returns the parameters of polls for a page that shows an issue, or all issues if i is
// "". newest is the newest shown checkpoint, tip the commit of the chain.
//
// unsaved is the shown text about the files that are not saved, or "".
func (v *visit) live(i checkpoint.Issue, newest checkpoint.Clock, tip, unsaved string) *Live {
	if v.links.file || v.state == "" {
		return nil
	}
	q := url.Values{"since": {strconv.FormatInt(int64(newest), 10)}}
	if i != "" {
		q.Set("issue", i.RefName())
		q.Set("tip", tip)
	}
	if unsaved != "" {
		q.Set("here", "1")
	}
	return &Live{"/live?" + q.Encode(), v.state + tagOf(unsaved)}
}

func (v *visit) poll() error {
	files, q := "", v.r.URL.Query()
	if i, err := checkpoint.IssueFromRef(q.Get("issue")); err == nil && q.Has("here") {
		files = v.unsavedText(i)
	}
	tag := `"` + v.state + tagOf(files) + `"`
	v.w.Header().Set("ETag", tag)
	if v.r.Header.Get("If-None-Match") == tag {
		v.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	n, err := v.newsSince(q)
	if err != nil {
		return err
	}
	n.Unsaved = files
	v.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(v.w).Encode(n)
}

// tagOf returns the part of an entity tag for a text, "" for no text.
func tagOf(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return "-" + hex.EncodeToString(sum[:6])
}

// newsSince returns what changed since the page of a poll's query.
func (v *visit) newsSince(q url.Values) (News, error) {
	since, err := strconv.ParseInt(q.Get("since"), 10, 64)
	if err != nil {
		return News{}, errNoPage
	}
	var n News
	if q.Get("issue") == "" {
		tips, _, err := v.repo.NewestOfEach(v.ctx)
		for _, t := range tips {
			if t.Checkpoint != nil && t.Checkpoint.Stated > checkpoint.Clock(since) {
				n.New++
			}
		}
		n.Text = "The checkpoints have changed"
		if n.New > 0 {
			n.Text = "New checkpoints of " + view.Plural(n.New, "issue")
		}
		return n, err
	}
	i, err := checkpoint.IssueFromRef(q.Get("issue"))
	if err != nil {
		return News{}, errNoPage
	}
	l, err := v.repo.List(v.ctx, i, PageSize)
	if err != nil {
		return News{}, err
	}
	for k := range l.Checkpoints {
		if l.Checkpoints[k].Stated > checkpoint.Clock(since) {
			n.New++
		}
	}
	switch {
	case n.New == PageSize:
		n.Text = strconv.Itoa(n.New) + " or more new checkpoints"
	case n.New > 0:
		n.Text = view.Plural(n.New, "new checkpoint")
	case l.Tip.String() != q.Get("tip"):
		n.Text = "The checkpoints have changed"
	}
	return n, nil
}
