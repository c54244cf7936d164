package gitstore

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// A chainParser parses the commits of a chain, newest first. For a long walk
// it does so beside the reading of the next ones.
type chainParser struct {
	issue   checkpoint.Issue
	count   int // of commits
	found   int // of checkpoints
	foreign int // of commits that are none, and carry no ledger
	commits []chainCommit

	batch []rawCommit      // not yet given to the goroutine
	in    chan []rawCommit // nil where the commits are described at once
	done  chan struct{}
}

// batchOf is how many commits are described together.
const batchOf = 256

func newChainParser(issue checkpoint.Issue, long bool) *chainParser {
	d := &chainParser{issue: issue}
	if long {
		d.batch = make([]rawCommit, 0, batchOf)
	}
	return d
}

// add takes the next commit. In a long walk it only looks at whether the
// commit names a checkpoint: what is wrong with the name shows later.
func (d *chainParser) add(c rawCommit) {
	d.count++
	if d.batch == nil {
		l := d.describe(c)
		switch {
		case l.ledger:
		case l.ID == "":
			d.foreign++
		default:
			d.found++
		}
		d.commits = append(d.commits, l)
		return
	}
	if !c.isLedger() && !strings.Contains(c.message, trailerID) {
		d.foreign++
	}
	if d.batch = append(d.batch, c); len(d.batch) == batchOf {
		d.send()
	}
}

// send gives the batch to the goroutine, which is started with the first one.
func (d *chainParser) send() {
	if d.in == nil {
		d.in, d.done = make(chan []rawCommit, 4), make(chan struct{})
		go func() {
			for batch := range d.in {
				d.take(batch)
			}
			close(d.done)
		}()
	}
	d.in <- d.batch
	d.batch = make([]rawCommit, 0, batchOf)
}

func (d *chainParser) take(batch []rawCommit) {
	if len(d.commits)+len(batch) > cap(d.commits) {
		links := make([]chainCommit, len(d.commits), 2*cap(d.commits)+len(batch))
		copy(links, d.commits)
		d.commits = links
	}
	for _, c := range batch {
		d.commits = append(d.commits, d.describe(c))
	}
}

func (d *chainParser) describe(c rawCommit) chainCommit {
	l := chainCommit{commit: c, ledger: c.isLedger()}
	if !l.ledger {
		l.Checkpoint = c.describe(d.issue)
	}
	return l
}

// finish returns the parsed commits. It may be called again.
func (d *chainParser) finish() []chainCommit {
	if d.in != nil {
		close(d.in)
		<-d.done
		d.in = nil
	}
	d.take(d.batch)
	d.batch = nil
	return d.commits
}

// A Checkpoint is what a chain's commit says of one checkpoint, without its
// record.
type Checkpoint struct {
	ID        checkpoint.ID
	Issue     checkpoint.Issue
	Trigger   checkpoint.Trigger
	Phase     string
	Branch    string
	Resumable bool
	Clock     checkpoint.Clock
	LeftOut   bool // a limit of time or size kept files out of it
	Version   string
	Created   time.Time // the author's date, whole seconds
	Note      string

	Commit   plumbing.Hash
	Tree     plumbing.Hash
	Pinned   bool
	Archived bool
	Filed    Filed  // of an archived one
	Problem  string // why the commit is not a valid checkpoint, "" when it is
}

// Filed says why a checkpoint went to the archive, and when. The zero value
// says that nobody noted it.
type Filed struct {
	Why retention.Reason
	At  time.Time
}

// Valid reports whether the commit keeps the stored form. Records are judged
// by Verify.
func (c *Checkpoint) Valid() bool { return c.Problem == "" }

// Later reports whether a later version of the program made the checkpoint, in
// a form that this one cannot read.
func (c *Checkpoint) Later() bool {
	major, _, _ := strings.Cut(c.Version, ".")
	ours, _, _ := strings.Cut(checkpoint.Version, ".")
	return major != "" && major != ours
}

// describe reads what a commit says of its checkpoint. A commit that keeps
// the form only in part is described as far as it goes, with a Problem.
func (c rawCommit) describe(issue checkpoint.Issue) Checkpoint {
	cp := Checkpoint{Issue: issue, Commit: c.hash, Tree: c.tree, Created: c.authored(), Resumable: true}
	note, trailers := splitMessage(c.message)
	cp.Note = note
	for line := range strings.Lines(trailers) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			cp.Problem = cmp.Or(cp.Problem, "a line among the trailers that is none")
			continue
		}
		if err := cp.setTrailer(key, value); err != nil {
			cp.Problem = cmp.Or(cp.Problem, fmt.Sprintf("%s: %v", key, err))
		}
	}
	switch {
	case cp.Problem != "":
	case cp.ID == "":
		cp.Problem = "no " + trailerID
	case len(c.parents) == 0 || len(c.parents) > 2:
		cp.Problem = fmt.Sprintf("%d parents", len(c.parents))
	}
	return cp
}

func (c *Checkpoint) setTrailer(key, value string) (err error) {
	switch key {
	case trailerID:
		c.ID, err = checkpoint.ParseID(value)
	case trailerIssue:
		var i checkpoint.Issue
		if i, err = checkpoint.IssueFromRef(value); err == nil && i != c.Issue {
			err = fmt.Errorf("it belongs to issue %s", i)
		}
	case trailerTrigger:
		c.Trigger, err = checkpoint.ParseTrigger(value)
	case trailerPhase:
		c.Phase, err = unquoteTrailer(value)
	case trailerBranch:
		c.Branch, err = unquoteTrailer(value)
	case trailerResumable:
		c.Resumable, err = strconv.ParseBool(value)
	case trailerClock:
		var ok bool
		if c.Clock, ok = checkpoint.ParseClock(value); !ok {
			err = fmt.Errorf("%q is no clock", value)
		}
	case trailerLeftOut:
		c.LeftOut = true
	case trailerVersion:
		c.Version = value
	}
	return err
}

// isLedger reports whether c only carries a ledger.
func (c rawCommit) isLedger() bool {
	return strings.HasPrefix(c.message, ledgerSubject) && len(c.parents) == 1
}
