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
	"sync"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
)

// An open page asks every few seconds whether checkpoints were saved. All pages share one
// look at the refs per second. As long as the refs stay, the answer is 304 and no other file
// is read. A poll is used instead of a stream of events, because browsers open only six
// connections to a server.

// watchEvery is the minimum time between two looks at the refs.
const watchEvery = time.Second

// A watcher knows the state of the refs.
type watcher struct {
	mu    sync.Mutex
	at    time.Time
	state string
}

// maxNews limits the cached answers to polls, and the issues whose files are compared.
const maxNews = 500

// look returns a name for the state of all chains and the current branch. It reads the state
// at most once per watchEvery, from repo, or from a repository that it opens if repo is nil.
func (s *site) look(ctx context.Context, repo *Repository) (string, error) {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state != "" && time.Since(w.at) < watchEvery {
		return w.state, nil
	}
	if repo == nil {
		var err error
		if repo, err = s.o.Open(ctx); err != nil {
			return "", err
		}
		defer repo.Close()
	}
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
	w.at, w.state = time.Now(), hex.EncodeToString(h.Sum(nil)[:12])
	return w.state, nil
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
)

// unsavedFiles is the text about the files of an issue for a state of the refs.
type unsavedFiles struct {
	text, state string
	until       time.Time // the text is new enough
}

// unsavedText returns the text about the files of an issue for a state of the refs, or "" if they
// cannot be compared.
func (s *site) unsavedText(ctx context.Context, i checkpoint.Issue, state string) string {
	s.comparing.Lock()
	defer s.comparing.Unlock()
	now := time.Now()
	if k, ok := s.unsaved.get(i); ok && k.state == state && now.Before(k.until) {
		return k.text
	}
	text := ""
	if repo, err := s.o.Open(ctx); err == nil {
		defer repo.Close()
		if p, err := repo.Point(ctx, i); err == nil {
			if n, err := repo.NotSaved(p.Checkpoint); err == nil {
				text = view.NotSavedText(n)
			}
		}
	}
	took := time.Since(now)
	s.unsaved.put(i, unsavedFiles{text, state, now.Add(max(unsavedEvery, unsavedShare*took))}, maxNews)
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

func (s *site) poll(w http.ResponseWriter, r *http.Request) {
	state, err := s.look(r.Context(), nil)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, line(err.Error()))
		return
	}
	files := ""
	if q := r.URL.Query(); q.Has("here") {
		if i, err := checkpoint.IssueFromRef(q.Get("issue")); err == nil {
			files = s.unsavedText(r.Context(), i, state)
		}
	}
	tag := `"` + state + tagOf(files) + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	answer := func(n News) {
		n.Unsaved = files
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(n)
	}
	key := [2]string{state, r.URL.RawQuery}
	if n, ok := s.news.get(key); ok {
		answer(n)
		return
	}
	s.visit(w, r, func(v *visit) error {
		n, err := v.newsSince(r.URL.Query())
		if err == nil {
			s.news.put(key, n, maxNews)
			answer(n)
		}
		return err
	})
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
			n.Text = "New checkpoints of " + count(n.New, "issue")
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
		n.Text = count(n.New, "new checkpoint")
	case l.Tip.String() != q.Get("tip"):
		n.Text = "The checkpoints have changed"
	}
	return n, nil
}
