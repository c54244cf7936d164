package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"

	"github.com/go-git/go-git/v5/plumbing"
)

// A lineCache has the commits of a Line, and the trees that the repository lacks, in packs below
// git-checkpoint/lines/<issue>/ in the git directory. SweepLines removes it a week after its last
// use. The file "states" there has a line for the chain, for each pack and for each checkpoint:
//
//	chain <tip, or zero if the states depend on more than the chain>
//	pack <name> <bytes> <bytes of its index>
//	<id> <trigger> <commit> <tree> <state> <HEAD or zero> <commit of the line> <parents...>
//
// and a last line with the SHA-256 of the lines before. Loose objects there are of Line.Now.
type lineCache struct {
	dir    string
	issue  checkpoint.Issue
	tip    plumbing.Hash
	packs  []linePack
	states []LineState // oldest first; a Checkpoint has only id, issue, trigger, commit and tree
}

// A linePack is a pack of a lineCache.
type linePack struct {
	name        string
	size, index int64 // bytes
}

// maxLinePacks limits the packs of a line, since git looks for an object in each of them. A further
// pack replaces all.
const maxLinePacks = 20

// linesKept is the time after which an unused cache of a line is removed. linesUsed is the time
// after which a use is recorded, and a replaced pack is removed.
const (
	linesKept = 7 * 24 * time.Hour
	linesUsed = time.Hour
)

// SweepLines removes the caches of lines that were not used for a week.
func (s *Store) SweepLines() {
	dirs, _ := os.ReadDir(s.repo.NotePath("lines"))
	for _, d := range dirs {
		dir := s.repo.NotePath("lines/" + d.Name())
		if !fsutil.IsYounger(filepath.Join(dir, "states"), linesKept) && !fsutil.IsYounger(dir, linesUsed) {
			os.RemoveAll(dir)
		}
	}
}

// readLineCache reads the cache of an issue, and records the use. Without a complete list of
// states and all packs, the cache is empty.
func (s *Store) readLineCache(issue checkpoint.Issue) *lineCache {
	c := &lineCache{dir: s.repo.NotePath("lines/" + issue.RefName()), issue: issue}
	path := filepath.Join(c.dir, "states")
	data, err := os.ReadFile(path)
	if err != nil {
		return c
	}
	if now := time.Now(); !fsutil.IsYounger(path, linesUsed) {
		_ = os.Chtimes(path, now, now)
	}
	end := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1
	if string(data[end:]) != fmt.Sprintf("%x\n", sha256.Sum256(data[:end])) || !c.parse(string(data[:end])) {
		return &lineCache{dir: c.dir, issue: issue}
	}
	for _, p := range c.packs {
		if now, err := c.sizes(p.name); err != nil || now != p {
			return &lineCache{dir: c.dir, issue: issue}
		}
	}
	return c
}

// parse parses the list of states, and reports whether it has the form of this version.
func (c *lineCache) parse(text string) bool {
	c.states = make([]LineState, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "chain":
			c.tip = plumbing.NewHash(words[1])
		case len(words) == 4 && words[0] == "pack":
			p := linePack{name: words[1]}
			p.size, _ = strconv.ParseInt(words[2], 10, 64)
			p.index, _ = strconv.ParseInt(words[3], 10, 64)
			c.packs = append(c.packs, p)
		case len(words) < 7 || len(c.packs) == 0:
			return false
		default:
			hashes := make([]plumbing.Hash, len(words)-2)
			for k, word := range words[2:] {
				if !plumbing.IsHash(word) {
					return false
				}
				hashes[k] = plumbing.NewHash(word)
			}
			c.states = append(c.states, LineState{
				Checkpoint: chain.Checkpoint{ID: checkpoint.ID(words[0]), Issue: c.issue, Trigger: checkpoint.Trigger(words[1]), Commit: hashes[0], Tree: hashes[1]},
				Tree:       hashes[2], Head: hashes[3], Commit: hashes[4], Parents: hashes[5:],
			})
		}
	}
	return true
}

// byID returns the states by their checkpoint.
func (c *lineCache) byID() map[checkpoint.ID]*LineState {
	states := make(map[checkpoint.ID]*LineState, len(c.states))
	for i := range c.states {
		states[c.states[i].Checkpoint.ID] = &c.states[i]
	}
	return states
}

// sizes returns a pack with the present sizes of its files.
func (c *lineCache) sizes(name string) (linePack, error) {
	pack, err := os.Stat(c.packFile(name, ".pack"))
	if err != nil {
		return linePack{}, err
	}
	index, err := os.Stat(c.packFile(name, ".idx"))
	if err != nil {
		return linePack{}, err
	}
	return linePack{name, pack.Size(), index.Size()}, nil
}

func (c *lineCache) packFile(name, ext string) string {
	return filepath.Join(c.dir, "pack", "pack-"+name+ext)
}

// writeLineCache stores the new objects of a line as a pack, then the list of states.
func (s *Store) writeLineCache(ctx context.Context, c *lineCache, states []LineState, tip plumbing.Hash, w *lineObjects) error {
	if err := s.repo.Objects.MakeDirs(c.dir); err != nil {
		return err
	}
	if len(w.made) > 0 {
		p, err := s.writeLinePack(ctx, c, w)
		if err != nil {
			return err
		}
		c.packs = append(c.packs, p)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "chain %s\n", tip)
	for _, p := range c.packs {
		fmt.Fprintf(&out, "pack %s %d %d\n", p.name, p.size, p.index)
	}
	for i := range states {
		st := &states[i]
		fmt.Fprintf(&out, "%s %s %s %s %s %s %s", st.Checkpoint.ID, cmp.Or(st.Checkpoint.Trigger, "-"), st.Checkpoint.Commit, st.Checkpoint.Tree, st.Tree, st.Head, st.Commit)
		for _, p := range st.Parents {
			out.WriteString(" " + p.String())
		}
		out.WriteString("\n")
	}
	fmt.Fprintf(&out, "%x\n", sha256.Sum256([]byte(out.String())))
	if err := s.repo.WriteNote("lines/"+c.issue.RefName()+"/states", []byte(out.String())); err != nil {
		return err
	}
	// Replaced packs go once they are so old that no other process uses them.
	files, _ := os.ReadDir(filepath.Join(c.dir, "pack"))
	for _, f := range files {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Name(), "pack-"), ".")
		path := filepath.Join(c.dir, "pack", f.Name())
		if !slices.ContainsFunc(c.packs, func(p linePack) bool { return p.name == name }) && !fsutil.IsYounger(path, linesUsed) {
			os.Remove(path)
		}
	}
	return nil
}

// writeLinePack stores the objects of w as a pack. A crash can have left a shorter file of its name.
func (s *Store) writeLinePack(ctx context.Context, c *lineCache, w *lineObjects) (p linePack, err error) {
	batch := s.repo.Objects.NewBatch()
	for _, o := range w.made {
		batch.Add(o.kind, o.content)
	}
	data, err := batch.QuickPack()
	if err != nil {
		return p, err
	}
	g := s.repo.Git.With("GIT_OBJECT_DIRECTORY=" + c.dir)
	for range 2 {
		var said []byte
		said, err = g.Pipe(ctx, data, "-c", "core.fsync=none", "index-pack", "--stdin")
		_, name, _ := strings.Cut(strings.TrimSpace(string(said)), "\t")
		if err == nil {
			p, err = c.sizes(name)
		}
		if err != nil || p.size == int64(len(data)) && p.index > 0 {
			return p, err
		}
		os.Remove(c.packFile(name, ".pack"))
		os.Remove(c.packFile(name, ".idx"))
	}
	return p, fmt.Errorf("pack %s has %d bytes, not %d", p.name, p.size, len(data))
}
