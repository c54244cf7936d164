package chain

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// The issues of a branch, and the issues that were saved last, depend on the newest checkpoint of each
// issue. With 100,000 issues, a read of all chains takes seconds. So the note "tips" keeps the results
// for the issues in packed-refs; the rows main-* of the benchmark pay for it. The note is a refs.Sorted
// file with these names:
//
//	issue/<ref>/<last>/<former>/<branch>  branch of the newest checkpoint, and time of the save
//	branch/<branch>/<ref>                 issues by the branch of the newest checkpoint
//	former/<branch>/<ref>                 likewise, if <former> is 1: an earlier checkpoint is on
//	                                      the branch whose name is the issue's key
//	last/<last>/<order>                   issues in the order of LastSaved
//	unread/<ref>                          damaged chains, which each command reads
//	gone/<ref>                            issues that this clone has written, without a chain
//
// The value of an issue/ line is the tip of the chain. Other lines have the value 0. An issue without
// live checkpoints has only an issue/ line, with "-" as <last>.
//
// The header contains the state of packed-refs and of the folder of own notes. A command reads the
// chains of issues with loose refs, because they have changed since. If packed-refs has changed, the
// command writes the note again, and reads only the chains that have changed. It replaces the note as a
// whole, so no lock is necessary. The caller reads each chain that it finds, and compares the branch.

const tipsNote = "tips"

// tipsFormat is the first word of the note. Another form of the note needs another word.
const tipsFormat = "tips-1"

// minPacked is the size of packed-refs in bytes from which the note is used. It has some 250 issues.
const minPacked = 32 << 10

// A Tips finds issues by their newest checkpoints.
type Tips struct {
	s      *Chains
	file   *refs.Sorted                  // nil if all issues are in direct
	direct []checkpoint.Issue            // issues that the caller has to read, sorted by ref
	known  map[checkpoint.Issue]struct{} // those of direct
	count  int                           // issues with checkpoints in the file, including those of direct
}

// OpenTips finds out which issues have changed since the note was written. The caller must close
// the result. It first restores chain refs that were deleted, as RestoreDeletedRefs does.
func (s *Chains) OpenTips(ctx context.Context) (*Tips, error) {
	if s.repo.IssueLock == nil && s.repo.Info.RefFormat == "files" && !s.repo.Info.Shallow {
		t, err := s.openNote(ctx)
		if t != nil || err != nil {
			return t, err
		}
	}
	issues, _, err := s.Issues(ctx, false)
	if err == nil && s.RestoreDeletedRefs(ctx, issues) {
		issues, _, err = s.Issues(ctx, false)
	}
	return &Tips{s: s, direct: issues}, err
}

// openNote is OpenTips with the note. It returns nil if packed-refs is small.
func (s *Chains) openNote(ctx context.Context) (*Tips, error) {
	// Loose refs are listed before the state of packed-refs is read: git removes a loose ref after
	// it has replaced packed-refs.
	loose, err := s.looseIssues()
	if err != nil {
		return nil, err
	}
	state, err := s.tipsState()
	if err != nil || state == "" {
		return nil, err
	}
	t, err := s.readTips(state + " " + settled)
	if err != nil {
		if err := s.writeTips(ctx, state); err != nil {
			return nil, err
		}
		if t, err = s.readTips(state); err != nil {
			return nil, nil // the note cannot be written, or packed-refs has changed
		}
	}
	if err := t.setDirect(ctx, loose); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// tipsState returns the state on which the note depends, or "" if packed-refs is too small for the
// note.
func (s *Chains) tipsState() (string, error) {
	packed, err := refs.ReadPackedState(s.repo.Info.CommonDir)
	if err != nil || packed.Size < minPacked {
		return "", err
	}
	var noted int64
	if info, err := os.Stat(s.repo.OwnNotes()); err == nil {
		noted = info.ModTime().UnixNano()
	}
	return fmt.Sprintf("%d-%d-%d", packed.Size, packed.Time, noted), nil
}

// CacheRefsOf reads the refs of all issues once, if that is cheaper than reads of the refs of n
// issues. It reports whether the cache is new, so that the caller has to release it.
func (s *Chains) CacheRefsOf(ctx context.Context, n int) bool {
	packed, err := refs.ReadPackedState(s.repo.Info.CommonDir)
	if s.repo.Info.RefFormat == "files" && (err != nil || packed.Size > int64(n)*minPacked) {
		return false
	}
	return s.repo.CacheRefs(ctx)
}

// looseIssues returns the issues with a loose ref of the chain or of own/.
func (s *Chains) looseIssues() (loose []checkpoint.Issue, err error) {
	for _, prefix := range []string{repo.LiveRefs, repo.OwnRefs} {
		names, err := refs.Loose(s.repo.Info.CommonDir, prefix)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, prefix)); err == nil {
				loose = append(loose, i)
			}
		}
	}
	return loose, nil
}

// readTips opens the note. It fails if the state in the header does not begin with state.
func (s *Chains) readTips(state string) (*Tips, error) {
	file, words, err := refs.OpenSorted(s.repo.NotePath(tipsNote))
	if err != nil {
		return nil, err
	}
	count, now, _ := strings.Cut(strings.TrimPrefix(words, tipsFormat+" "), " ")
	t := &Tips{s: s, file: file, known: map[checkpoint.Issue]struct{}{}}
	if t.count, err = strconv.Atoi(count); err == nil && !strings.HasPrefix(now, state) {
		err = errOldNote
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return t, nil
}

var errOldNote = errors.New("the note has another state")

// Words of the header after the state. A settled state changes with the next change of packed-refs
// and of the folder of own notes. Without it, the next process writes the note again.
const (
	settled   = "settled"
	unsettled = "unsettled"
)

// setDirect sets the issues that have to be read, and restores deleted refs.
func (t *Tips) setDirect(ctx context.Context, loose []checkpoint.Issue) error {
	direct := slices.Clone(loose)
	add := func(_ plumbing.Hash, name string) bool {
		if i, err := checkpoint.IssueFromRef(name); err == nil {
			direct = append(direct, i)
		}
		return true
	}
	if err := errors.Join(t.file.Below("unread/", add), t.file.Below("gone/", add)); err != nil {
		return err
	}
	for _, i := range direct {
		if t.isDirect(i) {
			continue
		}
		t.known[i] = struct{}{}
		if !t.s.hasRef(ctx, i) {
			t.s.RepairIfRewritten(ctx, i)
			if !t.s.hasRef(ctx, i) {
				continue
			}
		}
		t.direct = append(t.direct, i)
	}
	slices.SortFunc(t.direct, func(a, b checkpoint.Issue) int { return cmp.Compare(a.RefName(), b.RefName()) })
	return nil
}

// hasRef is HasChain that is true for a broken ref too.
func (s *Chains) hasRef(ctx context.Context, i checkpoint.Issue) bool {
	hash, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
	return err != nil || !hash.IsZero()
}

// Close closes the note.
func (t *Tips) Close() {
	if t.file != nil {
		t.file.Close()
	}
}

// ReadsAll reports whether all issues have to be read.
func (t *Tips) ReadsAll() bool { return t.file == nil }

// OnBranch is Store.EachOnBranch for a branch as records have it.
func (t *Tips) OnBranch(branch string, renamed bool, each func(checkpoint.Issue) bool) error {
	for _, i := range t.direct {
		if !each(i) {
			return nil
		}
	}
	if t.file == nil {
		return nil
	}
	section := "branch/"
	if renamed {
		section = "former/"
	}
	return t.file.Below(section+url.QueryEscape(branch)+"/", func(_ plumbing.Hash, name string) bool {
		i, err := checkpoint.IssueFromRef(name)
		return err != nil || t.isDirect(i) || each(i)
	})
}

func (t *Tips) isDirect(i checkpoint.Issue) bool {
	_, is := t.known[i]
	return is
}

// Last returns issues among which are the limit issues that were saved last, and the number of the
// other issues that have checkpoints. A returned issue may have no checkpoints.
func (t *Tips) Last(limit int) (issues []checkpoint.Issue, others int, err error) {
	issues = slices.Clone(t.direct)
	if t.file == nil {
		return issues, 0, nil
	}
	others = t.count
	for i := range t.known {
		if t.has(i) {
			others--
		}
	}
	more := min(limit, others)
	err = t.file.Below("last/", func(_ plumbing.Hash, name string) bool {
		i, ok := lastIssue(name)
		if ok && !t.isDirect(i) && more > 0 {
			issues = append(issues, i)
			more--
			others--
		}
		return more > 0
	})
	return issues, others, err
}

// has reports whether the count of the note contains an issue.
func (t *Tips) has(i checkpoint.Issue) (found bool) {
	_ = t.file.Below("issue/"+i.RefName()+"/", func(_ plumbing.Hash, name string) bool {
		found = !strings.HasPrefix(name, "-")
		return false
	})
	return found
}

// A tipFact is the content of an issue/ line.
type tipFact struct {
	tip    plumbing.Hash
	last   string // order of its last save, or "-" without live checkpoints
	former string // "1" if an earlier checkpoint is on the branch whose name is the key, else "0"
	branch string // of the newest checkpoint, encoded
}

// lastOrder returns a text that sorts later times before earlier times.
func lastOrder(at time.Time) string { return fmt.Sprintf("%016x", math.MaxInt64/2-at.Unix()) }

// issueOrder returns a text that sorts as checkpoint.CompareIssues.
func issueOrder(i checkpoint.Issue) string {
	if n, is := i.Number(); is {
		return fmt.Sprintf("0%019d", n)
	}
	return "1" + hex.EncodeToString([]byte(i))
}

// lastIssue returns the issue of a name in the section last.
func lastIssue(name string) (checkpoint.Issue, bool) {
	_, order, _ := strings.Cut(name, "/")
	if number, is := strings.CutPrefix(order, "0"); is {
		n, err := strconv.ParseInt(number, 10, 64)
		return checkpoint.Issue(strconv.FormatInt(n, 10)), err == nil
	}
	key, err := hex.DecodeString(strings.TrimPrefix(order, "1"))
	return checkpoint.Issue(key), err == nil
}

// writeTips writes the note for a state. If packed-refs or the folder of own notes changes meanwhile,
// the note is not settled. It is not settled either if one of them is so young that a later change may
// have the same time. If ctx ends, writeTips returns an error, and writes the facts that it has for the
// next process.
func (s *Chains) writeTips(ctx context.Context, state string) error {
	live, own, gone, err := s.packedTips()
	if err != nil {
		return err
	}
	former := s.tipFacts()
	b := tipsBuilder{}
	for name, tip := range live {
		i, err := checkpoint.IssueFromRef(name)
		if err != nil {
			continue // a ref of another program
		}
		fact, known := former[name]
		if changed := !known || fact.tip != tip || !own[name].IsZero() && own[name] != tip; changed {
			if ctx.Err() != nil {
				continue
			}
			fact, known = s.readFact(ctx, i, tip)
		}
		b.add(i, fact, known)
	}
	for _, name := range gone {
		b.lines = append(b.lines, "0 gone/"+name+"\n")
	}
	word := unsettled
	if now, err := s.tipsState(); err == nil && now == state && s.isSettled() {
		word = settled
	}
	if ctx.Err() != nil {
		state = "0"
	}
	words := fmt.Sprintf("%s %d %s %s", tipsFormat, b.count, state, word)
	_ = s.repo.WriteUnsynced(s.repo.NotePath(tipsNote), refs.FormatSorted(words, b.lines))
	return ctx.Err()
}

// packedTips returns the chains and the values of own/ in packed-refs, by the name of the ref, and
// the names of issues that this clone has written and that have no chain there.
func (s *Chains) packedTips() (live, own map[string]plumbing.Hash, gone []string, err error) {
	live, own = map[string]plumbing.Hash{}, map[string]plumbing.Hash{}
	err = refs.EachPacked(s.repo.Info.CommonDir, []string{repo.LiveRefs, repo.OwnRefs}, func(name string, value plumbing.Hash) {
		if key, is := strings.CutPrefix(name, repo.LiveRefs); is {
			live[key] = value
		} else {
			own[strings.TrimPrefix(name, repo.OwnRefs)] = value
		}
	})
	for _, i := range s.repo.NotedIssues() {
		gone = append(gone, i.RefName())
	}
	for name := range own {
		gone = append(gone, name)
	}
	slices.Sort(gone)
	gone = slices.DeleteFunc(slices.Compact(gone), func(name string) bool { _, is := live[name]; return is })
	return live, own, gone, err
}

// tipFacts returns the facts of the note, by the name of the ref.
func (s *Chains) tipFacts() map[string]tipFact {
	facts := map[string]tipFact{}
	t, err := s.readTips("")
	if err != nil {
		return facts
	}
	defer t.Close()
	_ = t.file.Below("issue/", func(tip plumbing.Hash, name string) bool {
		if f := strings.Split(name, "/"); len(f) == 4 {
			facts[f[0]] = tipFact{tip, f[1], f[2], f[3]}
		}
		return true
	})
	return facts
}

// readFact reads the chain at the value that packed-refs has. It first repairs a chain that plain
// git has set back. It reports whether the chain can be read.
func (s *Chains) readFact(ctx context.Context, i checkpoint.Issue, tip plumbing.Hash) (tipFact, bool) {
	s.RepairIfRewritten(ctx, i)
	if tip.IsZero() {
		return tipFact{}, false
	}
	c, err := s.Walk(i, repo.LiveRef(i), tip, 1)
	if err != nil || c.CheckBoundary() != nil {
		return tipFact{}, false
	}
	newest := c.Newest()
	if newest == nil {
		return tipFact{tip: tip, last: "-", former: "0"}, true
	}
	fact := tipFact{tip: tip, last: lastOrder(newest.Saved), former: "0", branch: url.QueryEscape(newest.Branch)}
	if newest.Branch != string(i) {
		c, err := s.Walk(i, repo.LiveRef(i), tip, 0)
		if err != nil || slices.ContainsFunc(c.Checkpoints(), func(cp Checkpoint) bool { return cp.Branch == string(i) }) {
			fact.former = "1"
		}
	}
	return fact, true
}

// A tipsBuilder collects the lines of the note.
type tipsBuilder struct {
	lines []string
	count int // issues with checkpoints
}

func (b *tipsBuilder) add(i checkpoint.Issue, f tipFact, known bool) {
	name := i.RefName()
	if !known {
		b.lines = append(b.lines, "0 unread/"+name+"\n")
		return
	}
	b.lines = append(b.lines, f.tip.String()+" issue/"+name+"/"+f.last+"/"+f.former+"/"+f.branch+"\n")
	if f.last == "-" {
		return
	}
	b.count++
	b.lines = append(b.lines, "0 branch/"+f.branch+"/"+name+"\n", "0 last/"+f.last+"/"+issueOrder(i)+"\n")
	if f.former == "1" {
		b.lines = append(b.lines, "0 former/"+f.branch+"/"+name+"\n")
	}
}

// isSettled reports whether packed-refs and the folder of own notes are older than the precision of
// their times, so that a later change has another time.
func (s *Chains) isSettled() bool {
	young := func(path string) bool { return fsutil.IsYounger(path, timePrecision) }
	return !young(filepath.Join(s.repo.Info.CommonDir, "packed-refs")) && !young(s.repo.OwnNotes())
}

// timePrecision is more than the coarsest precision of file times, that of FAT.
const timePrecision = 3 * time.Second
