package odb

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

// racy is the minimum age of a directory's timestamp to detect changes reliably. Two
// changes within a clock tick have the same timestamp, and FAT has a resolution of two
// seconds.
const racy = 3 * time.Second

// A source is an objects directory: the repository's own or an alternate.
type source struct {
	dir string

	mu      sync.Mutex // held during scans
	packs   atomic.Pointer[[]*pack]
	stamp   time.Time // timestamp of the pack directory, zero if unreliable
	retired []*pack   // packs removed from the list that readers may still use
}

// list returns the packs, most recently found first.
func (s *source) list() []*pack {
	if packs := s.packs.Load(); packs != nil {
		return *packs
	}
	s.rescan(false)
	return *s.packs.Load()
}

// rescan lists the packs again and reports whether the list changed. If force is false
// and the timestamp of the directory is unchanged, rescan keeps the list.
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

// scan returns the packs that have both files, with any name: git names packs pack-*, and
// git maintenance also loose-*. Like git, scan treats an unreadable directory as empty.
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

// unfinished returns 1 for a temporary pack of a running git repack, else 0.
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

// replace installs a new list of packs and keeps known pack objects. New packs come
// first, because the object that caused the scan is likely there. Temporary packs of git
// repack come last, because a failed repack deletes them.
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

// refresh lists the packs of all sources again.
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

// gone reports whether err means that a file does not exist.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
