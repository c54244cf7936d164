package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
)

// Namespaces of the stored form.
const (
	liveRefs    = "refs/checkpoints/"
	archiveRefs = "refs/checkpoints-archive/"
	bookRefs    = "refs/git-checkpoint/"
	ownRefs     = "refs/git-checkpoint/own/"
	fetchedRefs = "refs/git-checkpoint/fetched/"
	remoteRefs  = "refs/git-checkpoint/remote/"
	undoRefs    = "refs/git-checkpoint/undo/"
)

// LiveRef is the ref of an issue's chain.
func LiveRef(i checkpoint.Issue) string { return liveRefs + i.RefName() }

// ArchiveRef is the ref of an issue's archive.
func ArchiveRef(i checkpoint.Issue) string { return archiveRefs + i.RefName() }

func ownRef(i checkpoint.Issue) string     { return ownRefs + i.RefName() }
func fetchedRef(i checkpoint.Issue) string { return fetchedRefs + i.RefName() }

// readRef returns what a ref points to, the zero hash when there is none.
// With the files backend it reads the file, as git does: loose first, then
// packed-refs. A stale answer is harmless, since every move names the value it
// expects. Other backends are asked through git. A name that git would not give
// a ref has none: a record may have any text for its branch.
func (s *Store) readRef(ctx context.Context, name string) (plumbing.Hash, error) {
	if !mayBeRef(name) {
		return plumbing.ZeroHash, nil
	}
	if s.repo.RefFormat != "files" {
		return s.askRef(ctx, name)
	}
	data, err := os.ReadFile(filepath.Join(s.repo.CommonDir, filepath.FromSlash(name)))
	switch {
	case err == nil:
		return parseRef(name, data)
	case errors.Is(err, fs.ErrNotExist) || isDirectory(err):
		return s.packedRef(name)
	}
	return plumbing.ZeroHash, fmt.Errorf("read %s: %w", name, err)
}

// mayBeRef reports whether a name is one that git check-ref-format allows. It
// stays inside the folder of refs then.
func mayBeRef(name string) bool {
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsFunc(name, bad) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.HasSuffix(name, ".")
}

// holdPacked reads packed-refs once for all that is read until a turn begins or
// a move fails. What is moved then is moved from values that are a little
// older, which git refuses where they are no more.
func (s *Store) holdPacked() {
	s.packed = nil
	if data, err := readPackedRefs(s.repo.CommonDir); err == nil && s.repo.RefFormat == "files" {
		s.packed = append([]byte{}, data...) // not nil, even where there is none
	}
}

// letPacked ends holdPacked.
func (s *Store) letPacked() { s.packed = nil }

func parseRef(name string, data []byte) (plumbing.Hash, error) {
	text := strings.TrimRight(string(data), "\n\r \t")
	if !plumbing.IsHash(text) {
		return plumbing.ZeroHash, corrupt(name, "broken ref: %q is not an object name", text)
	}
	return plumbing.NewHash(text), nil
}

// packedRef looks in packed-refs; a line is "<hex> <name>".
func (s *Store) packedRef(name string) (plumbing.Hash, error) {
	data, err := s.packed, error(nil)
	if data == nil {
		data, err = readPackedRefs(s.repo.CommonDir)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	needle := []byte(" " + name + "\n")
	for from := 0; ; {
		i := bytes.Index(data[from:], needle)
		if i < 0 {
			return plumbing.ZeroHash, nil
		}
		at := from + i
		if start := at - 40; start == 0 || start > 0 && data[start-1] == '\n' {
			return parseRef(name, data[start:at])
		}
		from = at + 1
	}
}

func (s *Store) askRef(ctx context.Context, name string) (plumbing.Hash, error) {
	refs, err := s.refs(ctx, name) // also what is below name, where it is a directory
	return refs[name], err
}

// refs lists the refs below prefixes.
func (s *Store) refs(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	out, err := s.git.Output(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, prefixes...)...)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", strings.Join(prefixes, " "), err)
	}
	refs := map[string]plumbing.Hash{}
	for line := range strings.Lines(string(out)) {
		hex, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs[name] = plumbing.NewHash(hex)
	}
	return refs, nil
}

// Issues lists the issues that have a chain, broken ones too, in the order of
// their refs. A ref that is no canonical key is left out and named in strange.
func (s *Store) Issues(ctx context.Context, archived bool) (issues []checkpoint.Issue, strange []string, err error) {
	prefix := liveRefs
	if archived {
		prefix = archiveRefs
	}
	names, err := s.refNames(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	if !archived {
		names = s.noticeVanished(ctx, names)
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

// refNames are the names of the refs below a prefix, in their order. Where refs
// are files, those are among them that git leaves out of its lists: they hold
// no object's name, as after a crash, or the name of an object that is not
// there. Other backends are git's alone.
func (s *Store) refNames(ctx context.Context, prefix string) ([]string, error) {
	if s.repo.RefFormat != "files" {
		refs, err := s.refs(ctx, prefix)
		return slices.Sorted(maps.Keys(refs)), err
	}
	names, err := storedRefs(s.repo.CommonDir, prefix)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// storedRefs are the names of the refs below a prefix as the files backend has
// them, loose and packed, whatever they hold. One may come twice.
func storedRefs(commonDir, prefix string) ([]string, error) {
	var names []string
	err := eachLoose(commonDir, prefix, func(name, _ string) error {
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	packed, err := readPackedRefs(commonDir)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(packed)) {
		if _, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// readPackedRefs reads packed-refs, which need not be there.
func readPackedRefs(commonDir string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(commonDir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read packed-refs: %w", err)
	}
	return data, nil
}

// checkName refuses a new issue whose ref differs from an existing one in
// case alone: file systems without case would make one of the two.
func (s *Store) checkName(ctx context.Context, i checkpoint.Issue) error {
	refs, err := s.refValues(ctx, liveRefs)
	if err != nil {
		return err
	}
	return newNames(refs).check(i)
}

// names are the refs of issues, by their names without case.
type names map[string]string

func newNames(refs map[string]plumbing.Hash) names {
	n := names{}
	for name := range refs {
		if strings.HasPrefix(name, liveRefs) {
			n[strings.ToLower(name)] = name
		}
	}
	return n
}

// check refuses an issue whose ref would be another's without case. One that is
// not refused is there from now on.
func (n names) check(i checkpoint.Issue) error {
	name, key := LiveRef(i), strings.ToLower(LiveRef(i))
	if there, ok := n[key]; ok && there != name {
		return &RefusedError{Reason: fmt.Sprintf("issue %s: %s differs in case alone", i, there)}
	}
	n[key] = name
	return nil
}
