package gitstore

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A describer makes links of a chain's commits, newest first. For a long walk
// it does so beside the reading of the next ones.
type describer struct {
	issue   checkpoint.Issue
	count   int // of commits
	found   int // of checkpoints
	foreign int // of commits that are none, and carry no ledger
	links   []link

	batch []rawCommit      // not yet given to the goroutine
	in    chan []rawCommit // nil where the commits are described at once
	done  chan struct{}
}

// batchOf is how many commits are described together.
const batchOf = 256

func newDescriber(issue checkpoint.Issue, long bool) *describer {
	d := &describer{issue: issue}
	if long {
		d.batch = make([]rawCommit, 0, batchOf)
	}
	return d
}

// add takes the next commit. In a long walk it only looks at whether the
// commit names a checkpoint: what is wrong with the name shows later.
func (d *describer) add(c rawCommit) {
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
		d.links = append(d.links, l)
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
func (d *describer) send() {
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

func (d *describer) take(batch []rawCommit) {
	if len(d.links)+len(batch) > cap(d.links) {
		links := make([]link, len(d.links), 2*cap(d.links)+len(batch))
		copy(links, d.links)
		d.links = links
	}
	for _, c := range batch {
		d.links = append(d.links, d.describe(c))
	}
}

func (d *describer) describe(c rawCommit) link {
	l := link{commit: c, ledger: c.isLedger()}
	if !l.ledger {
		l.Checkpoint = c.describe(d.issue)
	}
	return l
}

// finish returns the links. It may be called again.
func (d *describer) finish() []link {
	if d.in != nil {
		close(d.in)
		<-d.done
		d.in = nil
	}
	d.take(d.batch)
	d.batch = nil
	return d.links
}
