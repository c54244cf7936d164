package chain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Latest names the newest checkpoint of an issue, valid or not.
const Latest = "latest"

// First names the oldest remaining checkpoint of an issue.
const First = "first"

// Find returns the checkpoint of an issue that matches a name in one of the forms of gitstore.Store.Find.
func (s *Chains) Find(ctx context.Context, issue checkpoint.Issue, name string) (*Checkpoint, error) {
	if back, ok := stepsBack(name); ok {
		return s.findBack(ctx, issue, name, back)
	}
	live, err := s.List(ctx, issue, 0)
	if err != nil {
		return nil, err
	}
	n := len(live.Checkpoints)
	switch {
	case name == First && n == 0:
		return nil, &repo.NoneError{Issue: issue}
	case name == First && live.Cut:
		return nil, &repo.RefusedError{Reason: live.Ref + ": history is cut at a shallow boundary, and the oldest may lie below", Hint: "git fetch --unshallow"}
	case name == First:
		return &live.Checkpoints[n-1], nil
	}
	if c, err := s.match(live, name); c != nil || err != nil {
		return c, err
	}
	archived, err := s.Archived(ctx, issue, 0)
	if err != nil {
		return nil, err
	}
	if c, err := s.match(archived, name); c != nil || err != nil {
		return c, err
	}
	if n+len(archived.Checkpoints) == 0 {
		return nil, &repo.NoneError{Issue: issue}
	}
	return nil, &repo.NotFoundError{Issue: issue, Name: name}
}

// ByID returns the checkpoint of an issue with an exact id. An imported id can be any
// word, even a name such as "latest". If the chain has no such checkpoint, ByID searches
// the archive. It fails with *NotFoundError. It fails with *AmbiguousError for an unclear id
// (Checkpoint.Unclear).
func (s *Chains) ByID(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID) (*Checkpoint, error) {
	for _, list := range []func(context.Context, checkpoint.Issue, int) (*List, error){s.List, s.Archived} {
		l, err := list(ctx, issue, 0)
		if err != nil {
			return nil, err
		}
		var found []*Checkpoint
		for i := range l.Checkpoints {
			if l.Checkpoints[i].ID == id {
				found = append(found, &l.Checkpoints[i])
			}
		}
		if len(found) > 0 {
			return only(found, string(id))
		}
	}
	return nil, &repo.NotFoundError{Issue: issue, Name: string(id)}
}

// stepsBack parses "latest" and "latest~N".
func stepsBack(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, Latest)
	if !ok || rest == "" {
		return 0, ok
	}
	n, err := strconv.Atoi(strings.TrimPrefix(rest, "~"))
	return n, err == nil && n >= 0 && rest[0] == '~'
}

func (s *Chains) findBack(ctx context.Context, issue checkpoint.Issue, name string, back int) (*Checkpoint, error) {
	l, err := s.List(ctx, issue, back+1)
	if err != nil {
		return nil, err
	}
	switch {
	case len(l.Checkpoints) == 0:
		return nil, &repo.NoneError{Issue: issue}
	case len(l.Checkpoints) <= back:
		return nil, &repo.NotFoundError{Issue: issue, Name: name}
	}
	if c := &l.Checkpoints[back]; !c.Double || len(c.Twins) > 0 {
		return c, nil
	}
	if l, err = s.List(ctx, issue, 0); err != nil { // for the other contents
		return nil, err
	}
	return &l.Checkpoints[back], nil
}

// description returns a predicate for the names ":/text", "@{phase:name}" and "@{time}", or nil
// for other names.
func description(name string) func(*Checkpoint) bool {
	if text, ok := strings.CutPrefix(name, ":/"); ok && text != "" {
		return func(c *Checkpoint) bool { return strings.Contains(c.Note, text) }
	}
	if phase, ok := strings.CutPrefix(name, "@{phase:"); ok && strings.HasSuffix(phase, "}") {
		phase = strings.TrimSuffix(phase, "}")
		return func(c *Checkpoint) bool { return c.Phase == phase }
	}
	if text, ok := strings.CutPrefix(name, "@{"); ok && strings.HasSuffix(text, "}") {
		if at, err := checkpoint.ParseTime(strings.TrimSuffix(text, "}")); err == nil {
			return func(c *Checkpoint) bool { return !c.Created.After(at) }
		}
	}
	return nil
}

// turnsCompared limits the checkpoints before a turn that are searched for another one with its
// number.
const turnsCompared = 100

// newestTurn returns the newest turn of an agent with a number, or nil. An older one with the same number, of
// before a restore or of another clone, is named in a warning, as git does for an ambiguous name.
func (s *Chains) newestTurn(list []Checkpoint, number int) *Checkpoint {
	is := func(c Checkpoint) bool {
		if c.ID == "" || c.Trigger != checkpoint.Turn {
			return false
		}
		r, err := s.Record(&c)
		return err == nil && r.AgentTurn().Number == number && !r.AgentTurn().Hand
	}
	at := slices.IndexFunc(list, is)
	if at < 0 {
		return nil
	}
	older := list[at+1 : min(len(list), at+1+turnsCompared)]
	if k := slices.IndexFunc(older, is); k >= 0 {
		s.repo.Notify("turn %d is ambiguous: this is the newest, %s; another one is %s", number, list[at].ID, older[k].ID)
	}
	return &list[at]
}

// match returns a list's checkpoint that matches a name, or nil.
func (s *Chains) match(l *List, name string) (*Checkpoint, error) {
	list := l.Checkpoints
	if of := description(name); of != nil {
		i := slices.IndexFunc(list, func(c Checkpoint) bool { return c.ID != "" && of(&c) })
		if i < 0 {
			return nil, nil
		}
		return &list[i], nil
	}
	if text, ok := strings.CutPrefix(name, "@{turn:"); ok && strings.HasSuffix(text, "}") {
		if n, err := strconv.Atoi(strings.TrimSuffix(text, "}")); err == nil {
			return s.newestTurn(list, n), nil
		}
	}
	var exact, found []*Checkpoint
	for i := range list {
		if string(list[i].ID) == name {
			exact = append(exact, &list[i])
		}
		if list[i].ID != "" && list[i].ID.Matches(name) {
			found = append(found, &list[i])
		}
	}
	if len(exact) > 0 {
		return only(exact, name)
	}
	if len(found) == 0 {
		found = s.matchCommit(slices.Concat(list, l.Others), name)
	}
	return only(found, name)
}

// only returns the only checkpoint that a name matches, nil if there is none, or *AmbiguousError. Of
// one content that stands twice in a chain, it is the newer commit.
func only(found []*Checkpoint, name string) (*Checkpoint, error) {
	if len(found) == 0 {
		return nil, nil
	}
	ambiguous, several := &repo.AmbiguousError{Name: name}, false
	for _, c := range found {
		ambiguous.Candidates = append(ambiguous.Candidates, c.ID)
		ambiguous.Commits = append(ambiguous.Commits, c.Commit.String())
		several = several || c.Member() != found[0].Member()
	}
	ids := slices.Compact(slices.Sorted(slices.Values(ambiguous.Candidates)))
	switch {
	case !several:
		return found[0], nil
	case len(ids) > 1:
		ambiguous.Commits = nil
	}
	return nil, ambiguous
}

// matchCommit finds a checkpoint by its commit id, full or abbreviated to at least seven
// digits. Full ids of rewritten commits are resolved through the checkpoint id in their
// trailers.
func (s *Chains) matchCommit(list []Checkpoint, name string) []*Checkpoint {
	var found []*Checkpoint
	if len(name) < 7 {
		return nil
	}
	for i := range list {
		if strings.HasPrefix(list[i].Commit.String(), name) {
			found = append(found, &list[i])
		}
	}
	if len(found) > 0 || !plumbing.IsHash(name) || len(list) == 0 {
		return found
	}
	old, err := s.repo.ReadCommit(plumbing.NewHash(name))
	if err != nil {
		return nil
	}
	id := CheckpointOf(old, list[0].Issue).ID
	content, err := s.Content(old)
	for i := range list {
		if id != "" && list[i].ID == id && (!list[i].Double || err == nil && content == list[i].Content) {
			found = append(found, &list[i])
		}
	}
	return found
}

// Newest returns the newest checkpoint of an issue, or *NoneError.
func (s *Chains) Newest(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, error) {
	return s.findBack(ctx, issue, Latest, 0)
}

// Unordered fails if a record's tasks have a dependency cycle.
func Unordered(r *checkpoint.Record) error {
	_, err := tasks.Of(r).Batches()
	return err
}

// ValidRecord returns the record of a checkpoint from which work continues.
func (s *Chains) ValidRecord(c *Checkpoint) (*checkpoint.Record, error) {
	r, err := s.VerifiedRecord(c)
	if err != nil {
		return nil, err
	}
	for _, p := range r.Validate() {
		if !p.Warning {
			return nil, repo.Corrupt(c.Name(), "%s", p)
		}
	}
	return r, nil
}

// HasArchive reports whether an issue's archive exists.
func (s *Chains) HasArchive(ctx context.Context, i checkpoint.Issue) bool {
	return s.hasRef(ctx, repo.ArchiveRef(i))
}

// HasIssue reports whether an issue has a chain or an archive.
func (s *Chains) HasIssue(ctx context.Context, i checkpoint.Issue) bool {
	s.look(ctx, i)
	return s.hasRef(ctx, repo.LiveRef(i)) || s.HasArchive(ctx, i)
}

// hasRef reports whether a ref exists, or is broken.
func (s *Chains) hasRef(ctx context.Context, name string) bool {
	hash, err := s.repo.ReadRef(ctx, name)
	return err != nil || !hash.IsZero()
}

// Issues returns all issues with a chain, including broken chains, sorted by ref. If archived is
// set, it returns the issues with an archive. Refs that are no canonical keys are returned in
// strange.
func (s *Chains) Issues(ctx context.Context, archived bool) (issues []checkpoint.Issue, strange []string, err error) {
	prefix := repo.LiveRefs
	if archived {
		prefix = repo.ArchiveRefs
	}
	names, err := s.repo.Refs.Names(ctx, prefix)
	if err == nil && !archived && s.lookForDeleted(ctx, names) {
		names, err = s.repo.Refs.Names(ctx, prefix)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		issue, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, prefix))
		if err != nil {
			strange = append(strange, name)
			continue
		}
		issues = append(issues, issue)
	}
	return issues, strange, nil
}

// A Names holds the chain refs by their folded names (fsutil.FoldName). It is filled before
// the first check.
type Names struct {
	Chains *Chains
	folded map[string]string
}

// Check fails if some file system treats a new issue's ref and another ref as one file, because they differ
// only in case or in Unicode's form. Otherwise it adds the ref.
func (n *Names) Check(ctx context.Context, i checkpoint.Issue) error {
	name := repo.LiveRef(i)
	if n.folded == nil {
		there, err := n.Chains.repo.Refs.Names(ctx, repo.LiveRefs)
		if err != nil {
			return err
		}
		n.folded = map[string]string{}
		for _, name := range there {
			n.folded[fsutil.FoldName(name)] = name
		}
	}
	switch there, known := n.folded[fsutil.FoldName(name)]; {
	case known && there != name:
		return &repo.RefusedError{Reason: fmt.Sprintf("issue %s: some file systems treat %s as equal", i, there)}
	case !known:
		n.folded[fsutil.FoldName(name)] = name
	}
	return nil
}

// SeenElsewhere reports whether another clone may have checkpoints of a chain. It returns
// true if this clone did not write the tip, or if fetched/ or a remote-tracking ref of
// the issue exists. Unreadable refs count as well.
func (s *Chains) SeenElsewhere(ctx context.Context, c *Chain) bool {
	if own, err := s.repo.ReadRef(ctx, repo.OwnRef(c.Issue)); err != nil || own != c.Tip {
		return true
	}
	if hash, err := s.repo.ReadRef(ctx, repo.FetchedRef(c.Issue)); err != nil || !hash.IsZero() {
		return true
	}
	tracking, err := s.repo.TrackingRefs(ctx, c.Issue)
	return err != nil || len(tracking) > 0
}
