package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// A site handles requests accepted by the guard.
type site struct {
	o         Options
	secret    string                   // secret key for forms
	slots     chan struct{}            // semaphore of reading requests
	lengths   cache[string, [2]string] // number of checkpoints and their authors, by tip of the chain
	notices   cache[string, Notice]    // results of actions, by a random key
	unsaved   cache[checkpoint.Issue, unsavedFiles]
	comparing sync.Mutex // one comparison of files at a time
}

func newSite(o Options) *site {
	return &site{o: o, secret: rand.Text(), slots: make(chan struct{}, maxAtOnce)}
}

// A cache keeps values for all requests. A full cache begins again.
type cache[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]V
}

func (c *cache[K, V]) get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok = c.kept[key]
	return value, ok
}

func (c *cache[K, V]) put(key K, value V, limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= limit {
		c.kept = map[K]V{}
	}
	c.kept[key] = value
}

// A visit is one request.
type visit struct {
	*site
	ctx  context.Context
	w    http.ResponseWriter
	r    *http.Request
	repo *Repository
	links
	state string // state of the refs before the page was read
}

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	page := func(pattern string, show func(*visit) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.visit(w, r, show) })
	}
	page("GET /{$}", (*visit).issues)
	page("GET /activity", (*visit).activity)
	page("GET /live", (*visit).poll)
	page("GET /i/{issue}", func(v *visit) error { return v.timeline(false) })
	page("GET /i/{issue}/archive", func(v *visit) error { return v.timeline(true) })
	page("GET /i/{issue}/turns", (*visit).turnsPage)
	page("GET /i/{issue}/blame", (*visit).blame)
	for path, question := range map[string]questioner{
		"undo": undo.question, "redo": redo.question, "c/{id}/{act}": (*visit).aboutCheckpoint,
	} {
		page("GET /i/{issue}/"+path, question.ask)
		page("POST /i/{issue}/"+path, question.act)
	}
	page("GET /i/{issue}/c/{id}", (*visit).checkpoint)
	page("GET /i/{issue}/c/{id}/diff", (*visit).diff)
	page("GET /i/{issue}/c/{id}/raw", (*visit).raw)
	page("/", func(*visit) error { return errNoPage })
	return mux
}

var errNoPage = errors.New("there is no such page")

// visit shows a page within the limits, or an error page.
func (s *site) visit(w http.ResponseWriter, r *http.Request, show func(*visit) error) {
	parent := r.Context()
	if r.Method == http.MethodPost {
		parent = context.WithoutCancel(parent) // a confirmed action continues after the client disconnects
	}
	ctx, cancel := context.WithTimeout(parent, maxTime)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	v := &visit{site: s, ctx: ctx, w: w, r: r}
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		if v.repo, err = s.o.Open(ctx); err == nil {
			defer func() { v.repo.Close() }() // an action can open it again
			if r.Method == http.MethodGet {   // without a state, the page does not poll
				v.state, _ = stateOf(ctx, v.repo)
			}
			err = show(v)
		}
	}
	if err != nil {
		status := statusOf(err)
		p := v.page(cmp.Or(failureTitles[status], "Something went wrong"))
		p.Error = &Failure{p.Title, err.Error(), hints(failure.Classify(err).Hint)}
		_ = v.send(status, "page", p)
	}
}

var failureTitles = map[int]string{
	http.StatusNotFound: "Page not found", http.StatusForbidden: "Not allowed", http.StatusConflict: "Not done", http.StatusServiceUnavailable: "Busy",
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, errNoPage), errors.As(err, new(*gitstore.NoneError)), errors.As(err, new(*gitstore.NoLinesError)), errors.As(err, new(*gitstore.NotFoundError)),
		errors.As(err, new(*gitstore.AmbiguousError)), errors.Is(err, gitstore.ErrNothingToUndo), errors.Is(err, gitstore.ErrNothingToRedo):
		return http.StatusNotFound
	case errors.Is(err, errReadOnly), errors.Is(err, errForm):
		return http.StatusForbidden
	case errors.As(err, new(*gitstore.RefusedError)), failure.Classify(err).Code == failure.Refused, errors.Is(err, gitstore.ErrMoved):
		return http.StatusConflict
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func (v *visit) show(p *Page) error { return v.send(http.StatusOK, "page", p) }

// send renders a template wholly before sending. If rendering fails, it sends an error instead.
func (v *visit) send(status int, name string, model any) error {
	page, err := render(name, model)
	if err != nil {
		refuse(v.w, http.StatusInternalServerError, err.Error())
		return nil
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, err = v.w.Write([]byte(page))
	return err
}

func (v *visit) issue() (checkpoint.Issue, error) {
	i, err := checkpoint.IssueFromRef(v.r.PathValue("issue"))
	if err != nil {
		return "", errNoPage
	}
	return i, nil
}

// place returns the checkpoint in the URL with its chain.
func (v *visit) place() (place, error) {
	i, err := v.issue()
	if err != nil {
		return place{}, err
	}
	return v.placeOf(i, v.r.PathValue("id"))
}

func (v *visit) placeOf(i checkpoint.Issue, name string) (place, error) {
	c, err := v.repo.Find(v.ctx, i, name)
	if err != nil {
		return place{}, err
	}
	l, err := v.chain(i, c.Archived, 0)
	if err != nil {
		return place{}, err
	}
	if at := indexOf(l, c.Commit.String()); at >= 0 {
		return place{l, at}, nil
	}
	return place{&gitstore.List{Issue: i, Checkpoints: []gitstore.Checkpoint{*c}}, 0}, nil
}

// A place is the position of a checkpoint in its chain.
type place struct {
	list *gitstore.List
	at   int
}

func (p place) checkpoint() *gitstore.Checkpoint { return &p.list.Checkpoints[p.at] }

// near returns the checkpoint that is step places older, or nil.
func (p place) near(step int) *gitstore.Checkpoint {
	if at := p.at + step; at >= 0 && at < len(p.list.Checkpoints) {
		return &p.list.Checkpoints[at]
	}
	return nil
}

// indexOf returns the index of a checkpoint by id or commit, or -1.
func indexOf(l *gitstore.List, name string) int {
	if name == "" {
		return -1
	}
	isCommit := !strings.Contains(name, "-") // formatting each commit takes long
	for i := range l.Checkpoints {
		if string(l.Checkpoints[i].ID) == name || isCommit && l.Checkpoints[i].Commit.String() == name {
			return i
		}
	}
	return -1
}

// chain returns an issue's chain or archive: at least the newest checkpoints, or all checkpoints if
// newest is 0.
func (v *visit) chain(i checkpoint.Issue, archived bool, newest int) (*gitstore.List, error) {
	if archived {
		return v.repo.Archived(v.ctx, i, newest)
	}
	return v.repo.List(v.ctx, i, newest)
}
