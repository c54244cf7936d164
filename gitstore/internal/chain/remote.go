package chain

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Results of a Fetch, a Push or a Sync for one issue.
const (
	UpToDate = "up to date" // both sides have the same chain
	Fetched  = "fetched"    // local chain now equals remote chain
	Pushed   = "pushed"     // remote chain now equals local chain
	Joined   = "joined"     // both sides now have the merge of both chains
	Ahead    = "ahead"      // the local chain has more checkpoints
	Behind   = "behind"     // the remote chain has more checkpoints
	Diverged = "diverged"   // each side has checkpoints that the other lacks; no ref was moved
	Absent   = "none"       // the remote has no chain of the issue
	Failed   = "failed"     // see Synced.Err
)

// A Synced is the result of a Fetch, a Push or a Sync for one issue.
type Synced struct {
	Issue   checkpoint.Issue
	Fetched int          // number of fetched checkpoints
	Pushed  int          // number of pushed checkpoints
	Joined  bool         // two chains were merged into a new chain
	Retries int          // number of attempts lost to faster processes
	Facts   ledger.Count // facts about checkpoints that one of the sides lacked
	Result  string
	Err     error // reason for Failed or Diverged, otherwise nil
}

// ErrNoRemote is returned if neither caller nor configuration names a remote.
var ErrNoRemote = failure.New(failure.Remote, "git remote add origin <url>", "no remote is configured")

// Remotes has the rules of gitstore.Store.Remotes.
func (s *Chains) Remotes(ctx context.Context, issues ...checkpoint.Issue) ([]string, error) {
	config, origin := s.repo.Config, ""
	last := func(key string) string {
		value, _ := git.Last(config, key)
		return value
	}
	if name := last("checkpoint.remote"); name != "" {
		return []string{name}, nil
	}
	branch, err := s.repo.Branch(ctx)
	if err != nil {
		return nil, err
	}
	if len(issues) == 1 {
		if newest, err := s.Newest(ctx, issues[0]); err == nil && newest.Branch != "" {
			if at, _ := s.repo.ReadRef(ctx, "refs/heads/"+newest.Branch); !at.IsZero() {
				branch = newest.Branch
			}
		}
	}
	if remote.Configured(config, "origin") {
		origin = "origin"
	}
	upstream, merge := last("branch."+branch+".remote"), last("branch."+branch+".merge")
	if upstream == "." { // this repository
		upstream = ""
	}
	push := cmp.Or(last("branch."+branch+".pushremote"), last("remote.pushdefault"))
	others := slices.DeleteFunc(remote.Names(config), func(name string) bool { return name == upstream })
	isOther := merge != "" && merge != "refs/heads/"+branch && slices.Contains([]string{"", "simple"}, last("push.default"))
	if push == "" && upstream != "" && upstream != origin && len(others) > 0 && isOther {
		push = origin
		shown, hints := ShownRemote(upstream), []string{}
		for _, name := range append(others, shown) {
			hints = append(hints, "git config "+failure.QuoteStrict("branch."+branch+".pushRemote")+" "+failure.QuoteStrict(name))
		}
		err = failure.New(failure.Remote, strings.Join(hints, "\n"),
			fmt.Sprintf("no push remote is chosen: branch %s goes on from another branch of %s, and git push would refuse too", branch, shown))
	}
	push = cmp.Or(push, upstream, origin)
	if push == "" {
		return nil, ErrNoRemote
	}
	return slices.Compact([]string{push, cmp.Or(upstream, origin, push)}), err
}

// TrackingRef returns the remote-tracking ref of an issue's chain.
func (s *Chains) TrackingRef(name string, i checkpoint.Issue) string {
	return s.TrackingRefs(name) + i.RefName()
}

// TrackingRefs returns the prefix of the remote-tracking refs of a remote. A URL or a
// path is replaced by its digest, because it may be long or contain a password.
func (s *Chains) TrackingRefs(name string) string {
	dir := checkpoint.Issue(name).RefName()
	if !remote.Configured(s.repo.Config, name) || len(dir) > checkpoint.MaxIssueBytes {
		dir = fmt.Sprintf("url-%x", sha256.Sum256([]byte(name)))[:20]
	}
	return repo.RemoteRefs + dir + "/"
}

// ShownRemote returns a remote's name for output, without password.
func ShownRemote(name string) string { return git.WithoutCredentials(name) }

// LookThere returns a command for the user to inspect a remote chain.
func LookThere(remote, ref string) string {
	return fmt.Sprintf("git fetch %s %s && git log FETCH_HEAD", failure.QuoteStrict(ShownRemote(remote)), failure.QuoteStrict(ref))
}

// RefsHere returns local refs of one issue, or of all issues for another number: chains,
// archives, own/ and the remote-tracking refs.
func (s *Chains) RefsHere(ctx context.Context, remote string, issues []checkpoint.Issue) (map[string]plumbing.Hash, error) {
	if len(issues) != 1 {
		return s.repo.Refs.Values(ctx, repo.LiveRefs, repo.ArchiveRefs, repo.OwnRefs, s.TrackingRefs(remote))
	}
	here := map[string]plumbing.Hash{}
	for _, name := range []string{repo.LiveRef(issues[0]), repo.ArchiveRef(issues[0]), repo.OwnRef(issues[0]), s.TrackingRef(remote, issues[0])} {
		hash, err := s.repo.ReadRef(ctx, name)
		if err != nil && !errors.As(err, new(*repo.CorruptError)) {
			return nil, err
		}
		here[name] = hash // a broken ref is reported when it is needed
	}
	return here, nil
}

// After merges an earlier attempt's result into d. In that attempt the push succeeded,
// but the local refs did not move.
func (d Synced) After(given Synced) Synced {
	d.Pushed += given.Pushed
	d.Fetched = max(d.Fetched, given.Fetched) // the same checkpoints are counted again
	d.Joined = d.Joined || given.Joined
	if d.Result == UpToDate && given.Result != "" {
		d.Result = given.Result
	}
	return d
}

// An Outgoing describes a push of an issue's refs.
type Outgoing struct {
	Tips     []string
	Seen     []plumbing.Hash // current tips of the remote's chains
	Excluded []string        // "^<commit>" for commits that the remote has or receives anyway, the same for all chains of a push
	Unknown  string          // a ref of the remote whose commit is not here, so that more commits may be there, or ""
}

// Outgoing returns the objects that a push of each group of updates would send. The number of git
// processes does not depend on the number of groups.
func (s *Chains) Outgoing(ctx context.Context, name string, e remote.Exposed, groups ...[]remote.RefUpdate) ([]Outgoing, error) {
	e.Cut = slices.Sorted(maps.Keys(s.boundary()))
	excluded, err := remote.Excluded(ctx, s.repo, name, e)
	outs := make([]Outgoing, len(groups))
	for n, updates := range groups {
		outs[n].Excluded, outs[n].Unknown = excluded, e.Unknown
		for _, u := range updates {
			outs[n].Tips = append(outs[n].Tips, u.Tip.String())
			if !u.Seen.IsZero() {
				outs[n].Seen = append(outs[n].Seen, u.Seen)
			}
		}
	}
	return outs, err
}
