package index

import "bytes"

// loadSpecial copies the special entries and checks their order relative to their
// neighbours, because building the tree skips them.
func (f *form) loadSpecial() error {
	c := cursor{f: f, i: -1}
	size := 0
	for _, i := range f.special {
		if c.i != i { // otherwise already at this entry
			if err := c.seek(max(i-1, 0)); err != nil {
				return err
			}
			if i > 0 {
				if err := c.follow(); err != nil {
					return err
				}
			}
		}
		if size += len(c.path); size > f.most() {
			return &FormatError{c.off, errSize.Error()}
		}
		f.keep(c.entry())
		if i+1 < f.count {
			if err := c.follow(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *form) keep(e Entry) {
	if e.Stage != 0 {
		f.unmerged = append(f.unmerged, e)
		return
	}
	f.toAdd = append(f.toAdd, e.Path)
}

// follow steps to the next entry and checks the order.
func (c *cursor) follow() error {
	path, stage := bytes.Clone(c.path), c.stage()
	if err := c.step(); err != nil {
		return err
	}
	cmp := bytes.Compare(path, c.path)
	if cmp < 0 || cmp == 0 && stage != 0 && stage < c.stage() {
		return nil
	}
	return &FormatError{c.off, "entries are not in order"}
}
