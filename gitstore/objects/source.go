package objects

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// racy is how old a directory must be for its time stamp to vouch for it: two
// changes within one tick of the clock leave the same stamp. FAT counts in
// steps of two seconds.
const racy = 3 * time.Second

// source is one objects directory: the repository's own or an alternate.
type source struct {
	dir string

	mu      sync.Mutex // held while scanning
	packs   atomic.Pointer[[]*pack]
	stamp   time.Time // of the pack directory, zero when it proves nothing
	retired []*pack   // no longer listed; a reader may still be in one
}

// list returns the packs, newest first.
func (s *source) list() []*pack {
	if packs := s.packs.Load(); packs != nil {
		return *packs
	}
	s.rescan(false)
	return *s.packs.Load()
}

// rescan looks for new and removed packs and reports whether the list is
// another one now. Without force it trusts the time of the directory.
func (s *source) rescan(force bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, stamp := time.Now(), time.Time{}
	if info, err := os.Stat(s.packDir()); err == nil {
		stamp = info.ModTime()
	}
	if !force && !s.stamp.IsZero() && stamp.Equal(s.stamp) {
		return false
	}
	s.stamp = stamp
	if now.Sub(stamp) < racy {
		s.stamp = time.Time{}
	}
	return s.replace(s.scan())
}

func (s *source) packDir() string { return filepath.Join(s.dir, "pack") }

// scan lists the packs that have both files, whatever their names are: git
// names packs pack-*, and git maintenance also loose-*. A directory that cannot
// be read has no packs: git treats it the same way.
func (s *source) scan() []string {
	names, err := readNames(s.packDir())
	if err != nil {
		return nil
	}
	have := make(map[string]bool, len(names))
	for _, name := range names {
		have[name] = true
	}
	var packs []string
	for _, name := range names {
		if base, ok := strings.CutSuffix(name, ".idx"); ok && have[base+".pack"] {
			packs = append(packs, s.packDir()+string(filepath.Separator)+base)
		}
	}
	return packs
}

// unfinished returns 1 for a pack that git repack has not yet given its final
// name, else 0.
func (p *pack) unfinished() int {
	if strings.HasPrefix(filepath.Base(p.path), ".tmp-") {
		return 1
	}
	return 0
}

func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// replace installs the packs with these paths, keeping those already known.
// Packs that are new come first: what is asked for after a scan is in them.
// The packs of a repack at work come last, since a repack that fails deletes
// them.
func (s *source) replace(paths []string) bool {
	known := make(map[string]*pack)
	var before []*pack
	if old := s.packs.Load(); old != nil {
		before = *old
	}
	for _, p := range before {
		known[p.path] = p
	}
	var fresh, kept []*pack
	for _, path := range paths {
		if p := known[path]; p != nil {
			kept = append(kept, p)
			delete(known, path)
		} else {
			fresh = append(fresh, &pack{path: path})
		}
	}
	for _, p := range known {
		s.retired = append(s.retired, p)
	}
	all := append(fresh, kept...)
	slices.SortStableFunc(all, func(a, b *pack) int { return cmp.Compare(a.unfinished(), b.unfinished()) })
	s.packs.Store(&all)
	return len(fresh) > 0 || len(known) > 0
}

// refresh lists all packs anew.
func (s *Database) refresh() {
	s.life.RLock()
	defer s.life.RUnlock()
	for _, src := range s.all() {
		src.rescan(true)
	}
	s.recent.Store(nil)
}

func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range append(s.retired, *s.orNone()...) {
		p.close()
	}
	s.retired = nil
	s.packs.Store(&[]*pack{})
}

func (s *source) orNone() *[]*pack {
	if packs := s.packs.Load(); packs != nil {
		return packs
	}
	return &[]*pack{}
}

// gone reports whether err says that a file is not there.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
