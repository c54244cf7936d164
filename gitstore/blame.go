package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A BlameRequest selects the lines of a file.
type BlameRequest struct {
	Issue  checkpoint.Issue
	Path   string   // relative to the root, with slashes
	Ranges []string // as -L of git blame, none for all lines

	At    checkpoint.ID // valid checkpoint of the issue with the file, or "" for the worktree
	Saved bool          // refuse a file of the worktree that neither HEAD nor a state before has
}

// A NoLinesError is the reason why a path has no lines to attribute.
type NoLinesError struct{ Path, Reason string }

func (e *NoLinesError) Error() string { return checkpoint.QuotePath(e.Path) + ": " + e.Reason }

// A BlameSource is where lines of a file come from: a checkpoint, a commit, or neither if they
// are not saved yet.
type BlameSource struct {
	Checkpoint *Checkpoint // with id, issue, trigger, commit and tree; nil for other sources
	Commit     plumbing.Hash
	Author     string
	Time       time.Time // of the author
	Summary    string
	NotSaved   bool

	Headers []string // lines of git blame --porcelain about the commit, without "previous"
}

// NoCommit is the name of a commit that does not exist.
var NoCommit = plumbing.ZeroHash

// A BlameLine is a line of a file.
type BlameLine struct {
	Number   int    // from 1
	Original int    // number in the file of the source
	File     string // name of the file in the source
	Text     string
	Source   *BlameSource
}

// Blame returns for each line of a file the checkpoint or the commit that brought it, as git
// blame of the line of commits (Line). Lines that HEAD brought between two checkpoints are
// attributed by git blame of HEAD. Errors of git, such as a wrong range, are *git.CommandError. A
// chain that lacks older checkpoints is a *RefusedError.
func (s *Store) Blame(ctx context.Context, req BlameRequest) ([]BlameLine, error) {
	defer trace.Begin(trace.Step, "blame").End()
	line, err := s.Line(ctx, req.Issue)
	if err != nil {
		return nil, err
	}
	defer line.Close()
	if line.Cut {
		return nil, &repo.RefusedError{Reason: fmt.Sprintf("blame: the chain of issue %s is cut at a shallow boundary: older turns are missing", req.Issue), Hint: "git fetch --unshallow"}
	}
	b := &blame{line: line, sources: map[plumbing.Hash]*BlameSource{}}
	commit, err := b.commitOf(ctx, &req)
	if err != nil {
		return nil, fmt.Errorf("blame: %w", err)
	}
	out, err := b.run(ctx, commit, req.Path, req.Ranges)
	if err != nil {
		return nil, err
	}
	lines, err := b.parse(out)
	if err != nil {
		return nil, err
	}
	return lines, b.readSteps(ctx, lines)
}

// A blame collects the sources of lines.
type blame struct {
	line    *Line
	now     plumbing.Hash // commit with the file of the worktree, zero if a checkpoint has it
	sources map[plumbing.Hash]*BlameSource
}

// commitOf returns the commit with the file of a request.
func (b *blame) commitOf(ctx context.Context, req *BlameRequest) (commit plumbing.Hash, err error) {
	if req.At != "" {
		st := b.line.ByID(req.At)
		if st == nil {
			return commit, &NotFoundError{Issue: req.Issue, Name: string(req.At)}
		}
		return st.Commit, b.checkHas(ctx, req.Path, "no such file in "+string(req.At), st.Commit.String())
	}
	if req.Saved {
		revs := []string{"HEAD"}
		for _, n := range b.line.here(ctx) {
			revs = append(revs, b.line.States[n].Commit.String())
		}
		if err := b.checkHas(ctx, req.Path, "no checkpoint and no commit here has it", revs...); err != nil {
			return commit, err
		}
	}
	b.now, err = b.line.Now(ctx, req.Path)
	return b.now, err
}

// checkHas returns a *NoLinesError unless one of the revisions has a file at the path.
func (b *blame) checkHas(ctx context.Context, path, reason string, revs ...string) error {
	for _, rev := range revs {
		out, err := b.git().Output(ctx, "ls-tree", "-z", "--full-tree", rev, "--", path)
		kind := strings.Fields(string(out))
		if err == nil && len(kind) > 1 && kind[1] == "blob" {
			return nil
		}
	}
	return &NoLinesError{path, reason}
}

func (b *blame) git() git.Git {
	g := b.line.Git
	g.Dir = b.line.store.Root()
	return g
}

// run runs git blame on a file of a commit.
func (b *blame) run(ctx context.Context, commit plumbing.Hash, path string, ranges []string) ([]byte, error) {
	args := []string{"-c", "core.quotePath=false", "blame", "--porcelain"}
	for _, r := range ranges {
		args = append(args, "-L"+r)
	}
	return b.git().Output(ctx, append(args, commit.String(), "--", path)...)
}

// readSteps attributes the lines of steps to the commits that HEAD has them from, with one git
// process a step and file.
func (b *blame) readSteps(ctx context.Context, lines []BlameLine) error {
	type place struct {
		step plumbing.Hash
		file string
	}
	at := map[place][]*BlameLine{}
	var order []place
	for i := range lines {
		l := &lines[i]
		if _, ok := b.line.steps[l.Source.Commit]; ok {
			p := place{l.Source.Commit, l.File}
			if at[p] == nil {
				order = append(order, p)
			}
			at[p] = append(at[p], l)
		}
	}
	outs, errs := make([][]byte, len(order)), make([]error, len(order))
	var wait sync.WaitGroup
	running := make(chan struct{}, runtime.NumCPU())
	for n, p := range order {
		wait.Go(func() {
			running <- struct{}{}
			outs[n], errs[n] = b.run(ctx, b.line.steps[p.step], p.file, rangesOf(at[p]))
			<-running
		})
	}
	wait.Wait()
	for n, p := range order {
		if errs[n] != nil {
			return errs[n]
		}
		found, err := b.parse(outs[n])
		if err != nil {
			return err
		}
		byNumber := map[int]BlameLine{}
		for _, f := range found {
			byNumber[f.Number] = f
		}
		for _, l := range at[p] {
			if f, ok := byNumber[l.Original]; ok {
				l.Source, l.Original, l.File = f.Source, f.Original, f.File
				if turn, made := b.line.made[f.Source.Commit]; made {
					l.Source = b.source(b.line.States[turn].Commit)
				}
			}
		}
	}
	return nil
}

// rangesOf returns the numbers of lines in their source as ranges of git blame -L.
func rangesOf(lines []*BlameLine) (ranges []string) {
	var numbers []int
	for _, l := range lines {
		numbers = append(numbers, l.Original)
	}
	slices.Sort(numbers)
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] <= numbers[end]+1 {
			end++
		}
		ranges = append(ranges, fmt.Sprintf("%d,%d", numbers[i], numbers[end]))
		i = end + 1
	}
	return ranges
}

// parse parses the output of git blame --porcelain: for each line a header "<commit> <line in
// the source> <line> [<lines>]", lines "<key> <value>" about a commit or its file, and the text
// after a tab.
func (b *blame) parse(out []byte) ([]BlameLine, error) {
	files := map[plumbing.Hash]string{}
	var lines []BlameLine
	var at BlameLine
	for text := range bytes.Lines(out) {
		line := string(bytes.TrimSuffix(text, []byte("\n")))
		if rest, ok := strings.CutPrefix(line, "\t"); ok && at.Source != nil {
			at.Text, at.File = rest, files[at.Source.Commit]
			lines = append(lines, at)
			at = BlameLine{}
			continue
		}
		if key, value, _ := strings.Cut(line, " "); at.Source != nil {
			if key == "filename" {
				if path, err := checkpoint.UnquotePath(value); err == nil {
					value = path
				}
				files[at.Source.Commit] = value
				continue
			}
			at.Source.set(key, value, line)
			continue
		}
		var err error
		if at, err = b.header(line); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// header parses the header of a line.
func (b *blame) header(line string) (at BlameLine, err error) {
	words := strings.Fields(line)
	if len(words) < 3 || !plumbing.IsHash(words[0]) {
		return at, fmt.Errorf("git blame said %.80q", line)
	}
	for i, n := range []*int{&at.Original, &at.Number} {
		if *n, err = strconv.Atoi(words[i+1]); err != nil {
			return at, fmt.Errorf("git blame said %.80q", line)
		}
	}
	at.Source = b.source(plumbing.NewHash(words[0]))
	return at, nil
}

// source returns the source with a commit.
func (b *blame) source(hash plumbing.Hash) *BlameSource {
	if b.sources[hash] == nil {
		b.sources[hash] = &BlameSource{Commit: hash, NotSaved: hash == b.now}
		if n, ok := b.line.number[hash]; ok {
			st := &b.line.States[n]
			of, _ := b.line.store.repo.ReadCommit(st.Checkpoint.Commit) // it was read with the chain
			b.sources[hash].fill(b.line.encode(st, of, nil))
			b.sources[hash].Checkpoint, b.sources[hash].Author = &st.Checkpoint, st.Checkpoint.Author
		}
	}
	return b.sources[hash]
}

// fill sets the values of a commit of the line, as git blame prints them.
func (b *BlameSource) fill(c repo.RawCommit) {
	for line := range strings.Lines(string(c.Rest)) {
		who, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, rest, _ := strings.Cut(rest, " <")
		mail, rest, _ := strings.Cut(rest, "> ")
		at, zone, _ := strings.Cut(rest, " ")
		for _, h := range [][2]string{{"", name}, {"-mail", "<" + mail + ">"}, {"-time", at}, {"-tz", zone}} {
			b.set(who+h[0], h[1], who+h[0]+" "+h[1])
		}
	}
	summary, _, _ := strings.Cut(c.Message, "\n")
	b.set("summary", summary, "summary "+summary)
}

// set sets a value of git blame --porcelain.
func (b *BlameSource) set(key, value, line string) {
	switch key {
	case "previous":
		return
	case "author":
		if b.Checkpoint == nil {
			b.Author = value
		}
	case "author-time":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			b.Time = time.Unix(n, 0)
		}
	case "summary":
		b.Summary = value
	}
	if !slices.Contains(b.Headers, line) {
		b.Headers = append(b.Headers, line)
	}
}
