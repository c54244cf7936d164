package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// Restorer restores checkpoints and undoes restores and saves.
type Restorer struct {
	repo     *repo.Repo
	chain    *chain.Chains
	snapshot *snapshot.Capturer
	facts    *facts.Facts
	log      *operation.Log
}

// New returns the Restorer of a repository.
func New(r *repo.Repo, c *chain.Chains, s *snapshot.Capturer, f *facts.Facts, l *operation.Log) *Restorer {
	return &Restorer{r, c, s, f, l}
}

// A RestoreRequest holds the parameters of a restore.
type RestoreRequest struct {
	Checkpoint *chain.Checkpoint
	AnyHead    bool // accept any HEAD, and keep files that changed since
	AnyBranch  bool // accept a HEAD on another branch than the checkpoint's

	// Since limits the restore to the changes from this checkpoint to Checkpoint, which can be of
	// another issue. It is the base of merges. The restore belongs to the issue of Since, and HEAD
	// must fit to Since. Nil means no limit.
	Since *chain.Checkpoint

	Branch string // branch of a detached HEAD as named by CI, or ""
	Look   *Look  // shared with other plans of the command, or nil
	Request
}

func (req *RestoreRequest) issue() checkpoint.Issue {
	if req.Since != nil {
		return req.Since.Issue
	}
	return req.Checkpoint.Issue
}

// A Restored is the result of a restore.
type Restored struct {
	ID      checkpoint.ID
	Issue   checkpoint.Issue // of the operation
	Merging []string         // commits of the merge at the save, if no merge is in progress now
	Undo    string           // ref of the entry in the list of operations, "" without changes

	Sessions map[string]string // sessions that changed the paths of Others, and possibly more paths

	MovedPoint bool // the work goes on from this checkpoint, and from another one before

	Outcome
}

// Restore restores the files of a checkpoint, by the rules of plan.go. If the user asked for the checkpoint,
// the files go back to it; otherwise it is merged with the present files. A path that the checkpoint does not
// have is deleted only if the save read all files, and a checkpoint has the content. Before Restore replaces a
// file, the entry of the operation has the old content. Failed restores are rolled back. After a
// kill, the entry is pending, and the next restore, undo, Continue or Abort settles it.
func (s *Restorer) Restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	var done *Restored
	restore := func() (err error) {
		done, err = s.restoreLocked(ctx, req)
		return err
	}
	var err error
	if req.DryRun { // it also works in a read-only repository
		err = restore()
	} else {
		err = s.Operate(ctx, operation.Start{Command: "restore", Issue: req.issue()}, restore)
	}
	if errors.Is(err, ErrConcurrentChange) {
		err = &repo.RefusedError{Reason: err.Error(), Hint: "git status"}
	}
	if err != nil {
		return done, fmt.Errorf("restore %s: %w", req.Checkpoint.ID, err)
	}
	return done, nil
}

// restoreLocked is Restore in the running operation.
func (s *Restorer) restoreLocked(ctx context.Context, req RestoreRequest) (*Restored, error) {
	st, err := s.snapshot.OpenSnapshot(req.Checkpoint)
	if err != nil {
		return nil, err
	}
	if !req.DryRun {
		if commit, err := s.repo.ReadCommit(req.Checkpoint.Commit); err == nil {
			if found := s.chain.Mismatches(commit, st.Record); len(found) > 0 {
				s.repo.Notify("the history of %s was rewritten: %s", req.Checkpoint.ID, found[0])
			}
		}
	}
	var since *snapshot.Stored // of the checkpoint Since
	if req.Since == nil {
		err = s.checkPlace(ctx, &req, st)
	} else if since, err = s.snapshot.OpenSnapshot(req.Since); err == nil {
		of := req
		of.Checkpoint = req.Since
		err = s.checkPlace(ctx, &of, since)
	}
	if err != nil {
		return nil, err
	}
	done := &Restored{ID: req.Checkpoint.ID, Issue: req.issue()}
	site, err := s.worktreeFor(ctx, &req, st, since)
	if err != nil {
		return nil, err
	}
	if since == nil && len(s.repo.Info.MergeHeads()) == 0 {
		done.Merging = mergeHeads(st)
	}
	outcome, err := site.restoreFiles(ctx)
	done.Outcome, done.Sessions = *outcome, site.others
	if site.isNoted {
		done.Undo = s.log.Current().Name()
	}
	if err != nil && site.isNoted {
		if _, failed := s.abort(context.WithoutCancel(ctx), s.log.Current()); failed != nil {
			return done, &repo.RefusedError{
				Reason: fmt.Sprintf("%v; the part that is done remains: %v", err, failed),
				Hint:   "git checkpoint restore --abort",
			}
		}
		done.Restored, done.Removed, done.Undo, done.Merged = nil, nil, "", nil
		return done, err
	}
	if err == nil && !req.DryRun {
		s.recordHere(ctx, &req, st, site, done)
	}
	if err == nil && req.movesPoint() && !req.DryRun && len(done.Others) == 0 && (req.isComplete(done) || len(done.Restored) > 0) {
		var failed error // the files are restored already
		if done.MovedPoint, failed = s.chain.SetPoint(ctx, req.Checkpoint.Issue, "", done.ID); failed != nil {
			s.repo.Notify("the files are restored, but it is not recorded that the work goes on from %s: %v", done.ID, failed)
		}
	}
	return done, err
}

// worktreeFor returns the worktree for the restore of a checkpoint. since can be nil.
func (s *Restorer) worktreeFor(ctx context.Context, req *RestoreRequest, st, since *snapshot.Stored) (site *worktree, err error) {
	site = s.worktree()
	site.req, site.snap, site.look = req, &st.Contents, cmp.Or(req.Look, &Look{})
	site.modes = st.Record.Snapshot().Permissions()
	if since != nil {
		site.past, err = s.pastOf(ctx, req, &st.Contents, &since.Contents, since.Head)
		return site, err
	}
	if req.Asked {
		site.others = s.otherSessions(ctx, req.Checkpoint)
	}
	site.past, err = s.pastOf(ctx, req, &st.Contents, nil, st.Head)
	return site, err
}

// CheckResume fails with a *RefusedError if a resume of a checkpoint would restore no file here,
// because of an operation of git or of HEAD.
func (s *Restorer) CheckResume(ctx context.Context, c *chain.Checkpoint) error {
	st, err := s.snapshot.OpenSnapshot(c)
	if err != nil {
		return err
	}
	return s.checkPlace(ctx, &RestoreRequest{Checkpoint: c, AnyBranch: true}, st)
}

// checkPlace fails if the current state is unsuitable for the checkpoint's files: a git
// operation such as a rebase is in progress, HEAD is on another branch, or HEAD does not
// contain the checkpoint's commit.
func (s *Restorer) checkPlace(ctx context.Context, req *RestoreRequest, st *snapshot.Stored) error {
	if req.Force {
		return nil
	}
	if err := s.checkIdle(ctx, st); err != nil {
		return err
	}
	if !req.AnyBranch {
		if err := s.checkBranch(ctx, req); err != nil {
			return err
		}
	}
	if req.AnyHead {
		return nil
	}
	return s.checkHead(ctx, req.Checkpoint, st)
}

// checkBranch fails if HEAD is on another branch than the checkpoint's, even if both
// branches are at the same commit.
func (s *Restorer) checkBranch(ctx context.Context, req *RestoreRequest) error {
	c := req.Checkpoint
	head, err := s.repo.ReadHead(ctx)
	now := facts.RecordedBranch(cmp.Or(head.Branch, req.Branch))
	if err != nil || c.Branch == "" || now == "" || now == c.Branch {
		return err
	}
	b, err := s.facts.FindBranch(ctx, c.Branch, c.Saved)
	if err != nil || !b.Exists && b.Name == now {
		return err
	}
	refused := &repo.RefusedError{Reason: fmt.Sprintf("the checkpoint is of branch %s, and HEAD is on %s; --yes restores it here", c.Branch, now), Flag: "--yes"}
	switch place := s.facts.CheckedOut(ctx, c.Branch); {
	case place != "":
		refused.Hint = "cd " + failure.QuoteStrict(place)
	case b.Exists:
		refused.Hint = "git switch " + failure.QuoteStrict(c.Branch)
	default:
		refused.Hint = fmt.Sprintf("git switch -c %s %s^2^", failure.QuoteStrict(c.Branch), c.Commit.String()[:12])
	}
	return refused
}

// checkIdle fails during a merge, rebase or similar operation. As an exception, it
// accepts a checkpoint that was saved during the same merge on the same HEAD. So work can
// continue after a crash. The conflict stages are restored as well.
//
// If the checkpoint was saved during a merge that has ended, its files and conflict
// stages are restored too. No new merge is started. Restored.Merging contains the merge
// commits for git update-ref MERGE_HEAD, which makes the next commit a merge.
func (s *Restorer) checkIdle(ctx context.Context, st *snapshot.Stored) error {
	what := s.repo.Info.UnderWay()
	if what == "" {
		return nil
	}
	if what == "merge" && slices.Equal(s.repo.Info.MergeHeads(), mergeHeads(st)) {
		if now, err := s.repo.ReadHead(ctx); err == nil && now.Commit == st.Head {
			return nil
		}
	}
	return &repo.RefusedError{Reason: fmt.Sprintf("a %s is under way", what), Hint: fmt.Sprintf("git %s --continue", what)}
}

// mergeHeads returns the commits of the merge in which a checkpoint was saved.
func mergeHeads(st *snapshot.Stored) (commits []string) {
	for _, text := range st.Record.Snapshot().MergeHead {
		if hex := checkpoint.HashOf(text); plumbing.IsHash(hex) { // a record may contain any text
			commits = append(commits, hex)
		}
	}
	return commits
}

// checkHead fails if HEAD is behind the commit that was HEAD at the save, or has no common ancestor
// with it. On a HEAD that has diverged, the files are merged.
func (s *Restorer) checkHead(ctx context.Context, c *chain.Checkpoint, st *snapshot.Stored) error {
	if st.Head.IsZero() {
		return nil
	}
	// Unknown relations are no reason to fail: each path is compared separately.
	head, err := s.facts.CompareHead(ctx, c)
	if head.Contains || head.HasDiverged() || err != nil && s.facts.Partial() {
		return nil
	}
	if err != nil {
		return err
	}
	refused := &repo.RefusedError{
		Reason: fmt.Sprintf("HEAD does not contain %s, the commit of the checkpoint", st.Head.String()[:12]),
		Flag:   "--force",
	}
	switch {
	case head.HomeWorktree != "":
		refused.Hint = "cd " + failure.QuoteStrict(head.HomeWorktree)
	case head.Home != "":
		refused.Hint = "git switch " + failure.QuoteStrict(head.Home)
	case head.Base != "": // HEAD is behind
		refused.Hint = fmt.Sprintf("git merge --ff-only %s^2^", c.Commit.String()[:12])
	default:
		branch := strings.TrimPrefix(c.Branch+"-checkpoint", "-") // the names of package freshness
		refused.Hint = fmt.Sprintf("git switch -c %s %s^2^", failure.QuoteStrict(branch), c.Commit.String()[:12])
	}
	return refused
}

// Plan returns what a resume of a checkpoint would restore here and what it would leave, without
// regard to HEAD, and changes nothing. look may be nil.
func (s *Restorer) Plan(ctx context.Context, c *chain.Checkpoint, look *Look) (*Outcome, error) {
	defer trace.Begin(trace.Step, "plan of a restore").End()
	st, err := s.snapshot.OpenSnapshot(c)
	if err != nil {
		return nil, err
	}
	req := &RestoreRequest{Checkpoint: c, Look: look, Request: Request{DryRun: true}}
	site, err := s.worktreeFor(ctx, req, st, nil)
	if err != nil {
		return nil, err
	}
	return site.restoreFiles(ctx)
}
