package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil/processtree"
)

// An agent waits for its hooks, so a hook whose checkpoint is to be pushed leaves a note, and starts
// a process that pushes all issues with a note. Only one such process pushes in a clone at a time.
// An issue whose push has failed, or has not ended, has another note until a push succeeds.
const (
	pushDue    = "push/due/"    // empty file for each issue
	pushFailed = "push/failed/" // likewise, with a FailedPush
	pushLock   = "push/running"
)

// A FailedPush is the last push of an issue in the background if it has failed.
type FailedPush struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// PushHook is the hook that runs PushDue.
const PushHook = "push"

// PushDue pushes the issues that hooks have left notes about. If another process pushes, it
// returns at once.
func PushDue(c *invoke.Invocation) {
	for len(issuesIn(c, pushDue)) > 0 {
		atOnce, cancel := context.WithCancel(c.Ctx)
		cancel()
		release, err := c.Store.Notes.Lock(atOnce, pushLock)
		if err != nil {
			return // that process looks again after it has released the lock
		}
		for _, i := range issuesIn(c, pushDue) {
			_ = os.Remove(c.Store.Notes.Path(pushDue + i.RefName()))
			noteFailure(c, i, "the push has not ended")
			if err := PushIssue(c, i, "", false); err != nil {
				noteFailure(c, i, NotPushed(err))
			}
		}
		release()
	}
}

func noteFailure(c *invoke.Invocation, i checkpoint.Issue, text string) {
	if data, err := json.Marshal(FailedPush{c.Env.Now(), text}); err == nil {
		_ = c.Store.Notes.Write(pushFailed+i.RefName(), data)
	}
}

// LastFailedPush returns the failed push of an issue. Without a failed push the text is empty.
func LastFailedPush(c *invoke.Invocation, i checkpoint.Issue) (f FailedPush) {
	data, err := os.ReadFile(c.Store.Notes.Path(pushFailed + i.RefName()))
	if err != nil || json.Unmarshal(data, &f) != nil {
		return FailedPush{}
	}
	return f
}

// FailedPushes returns the issues whose last push in the background has failed.
func FailedPushes(c *invoke.Invocation) []checkpoint.Issue { return issuesIn(c, pushFailed) }

func issuesIn(c *invoke.Invocation, folder string) (issues []checkpoint.Issue) {
	files, _ := os.ReadDir(c.Store.Notes.Path(folder))
	for _, f := range files {
		if i, err := checkpoint.IssueFromRef(f.Name()); err == nil {
			issues = append(issues, i)
		}
	}
	return issues
}

// FetchStarted fetches the issue of a session that starts, if hooks push by themselves. It takes at
// most the time of the settings, and git asks for no password. It reports whether it asked the
// remote; without an answer, the chain of this clone counts.
func FetchStarted(ctx context.Context, c *invoke.Invocation) (asked bool) {
	limit := time.Duration(c.Settings.Int("timeouts.session")) * time.Second
	if c.Settings.String("push") == "never" || limit == 0 {
		return false
	}
	issue, unnamed := c.NamedIssue()
	remotes, err := c.FetchRemotes("", issue)
	if err != nil || unnamed != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, _ = Fetch(ctx, c, remotes, gitstore.FetchRequest{Issues: []checkpoint.Issue{issue}, Timeout: limit, Quiet: true})
	return true
}

// Fetch fetches from several remotes. It returns one result for each issue, with the sums of all
// remotes. The error joins those of remotes that do not answer.
func Fetch(ctx context.Context, c *invoke.Invocation, remotes []string, req gitstore.FetchRequest) (done []gitstore.Synced, err error) {
	at := map[checkpoint.Issue]int{}
	for _, req.Remote = range remotes {
		some, failed := c.Store.Fetch(ctx, req)
		err = errors.Join(err, failed)
		for _, s := range some {
			n, known := at[s.Issue]
			switch {
			case !known:
				at[s.Issue], done = len(done), append(done, s)
			case s.Err == nil && (s.Result == gitstore.Absent || s.Fetched == 0 && done[n].Fetched > 0): // the first result says more
			default:
				s.Fetched, s.Err = s.Fetched+done[n].Fetched, cmp.Or(s.Err, done[n].Err)
				done[n] = s
			}
		}
	}
	return done, err
}

// inBackground starts a process for a hook. It has no terminal and no open pipe to the agent.
func inBackground(c *invoke.Invocation, hook string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "hook", hook)
	cmd.Dir, cmd.Env = c.Store.Root(), append(os.Environ(), c.Store.Environ()...)
	if err := processtree.Detach(cmd); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
