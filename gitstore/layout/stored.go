package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"

	"git-checkpoint/gitstore/checkpoint"
)

// reserved lists the keys of a record that belong to git-checkpoint.
var reserved = []string{"trigger", "clock", "snapshot", "layout"}

// maxText limits the original bytes stored with a document. Larger documents are written
// again with equal content.
const maxText = 1 << 20

// Apply returns the record before with this document applied; before may be nil. A crunch
// document is a complete record and replaces before.
func (f *File) Apply(before *checkpoint.Record) *checkpoint.Record {
	r := before
	if r == nil {
		r = checkpoint.New()
	}
	stored, known := f.stored(), f.kind.judge != nil && f.In(r)
	if f.kind.whole != nil {
		r = checkpoint.FromDoc(f.Doc.Clone())
		r.Doc().Delete("layout")
	} else {
		stored.Set("document", f.Doc.Clone())
	}
	f.section(r).Set(f.Kind, stored)
	r.SetTrigger(f.Trigger())
	if f.kind.apply != nil {
		f.kind.apply(f.Doc, r)
	}
	if f.kind.judge != nil && !known {
		f.kind.judge(r)
	}
	return r
}

// section returns the files of this layout in the record and creates the section if
// necessary. Files of other layouts are removed.
func (f *File) section(r *checkpoint.Record) *object {
	l := sub(r.Doc(), "layout")
	if text(l, "name") != string(f.Layout) {
		l = newObject("name", string(f.Layout))
	}
	r.Doc().Set("layout", l)
	return mustSub(l, "files")
}

// stored returns the metadata for the document: name, version, indentation and original
// bytes.
func (f *File) stored() *object {
	m := checkpoint.NewMap()
	if f.Path != "" {
		m.Set("name", path.Base(f.Path))
	}
	if f.Version != "" {
		m.Set("version", f.Version)
	}
	if isJSON(f.data) {
		if n := indentOf(f.data); f.kind.whole != nil || n != f.kind.indent {
			m.Set("indent", n)
		}
	}
	data, err := f.kind.encode(m, f.Doc)
	if (err != nil || string(data) != string(f.data) || f.kind.whole != nil && hasAny(f.Doc, reserved...)) && len(f.data) <= maxText {
		m.Set("text", string(f.data))
	}
	return m
}

// In reports whether the record already contains this document as its last document of
// this kind.
func (f *File) In(r *checkpoint.Record) bool {
	stored := sub(r.Doc(), "layout.files."+f.Kind)
	if text(r.Doc(), "layout.name") != string(f.Layout) || stored.Len() == 0 {
		return false
	}
	now, err := f.kind.document(r, stored, false)
	if err != nil || now == nil {
		return false
	}
	if issue, ok := f.Doc.Get("issue_number"); ok && f.kind.whole != nil {
		now.Set("issue_number", issue) // the record may belong to another issue
	}
	return f.kind.unchanged(f.Doc, now)
}

// Digest returns a digest of the document's content. Equal documents of the same kind
// have equal digests.
func (f *File) Digest() string { return digest(f.Layout, f.Kind, f.Doc) }

// Digests returns the digests of all documents in a record. Crunch documents have ids
// instead.
func Digests(r *checkpoint.Record) []string {
	var out []string
	as := Name(text(r.Doc(), "layout.name"))
	for name := range sub(r.Doc(), "layout.files").All() {
		if m, ok := get(r.Doc(), "layout.files."+name+".document").(*object); ok {
			out = append(out, digest(as, name, m))
		}
	}
	return out
}

func digest(as Name, name string, m *object) string {
	data, err := m.MarshalJSON()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(string(as)+" "+name+"\n"), data...))
	return hex.EncodeToString(sum[:])
}

// encode returns a document in its original format.
func (k *kind) encode(stored, m *object) ([]byte, error) {
	indent := k.indent
	if n, ok := number(text(stored, "indent")).Int(); ok {
		indent = int(n)
	} else if k.whole != nil {
		return checkpoint.FromDoc(m).Encode()
	}
	return encodeJSON(m, indent)
}

// bytes returns the original bytes if the document is unchanged, otherwise its new
// encoding.
func (k *kind) bytes(stored, m *object) ([]byte, error) {
	if s := text(stored, "text"); s != "" {
		if k.lines != nil {
			return []byte(s), nil // log lines contain more than their events
		}
		if was, err := k.decode(text(stored, "name"), []byte(s)); err == nil && k.unchanged(was, m) {
			return []byte(s), nil
		}
	}
	return k.encode(stored, m)
}

// unchanged reports whether a document equals the original. Key order is ignored for
// crunch documents, because records have their own order.
func (k *kind) unchanged(was, m *object) bool {
	if k.whole != nil {
		return same(was, m)
	}
	return checkpoint.Equal(was, m)
}

// Output is a file of a layout: its path below the layout's folder, and its content or
// link target.
type Output struct {
	Path string
	Data []byte
	Link string
}

// of returns a record as documents: stored documents with updated values, or a new
// document.
func (s *system) of(r *checkpoint.Record) ([]Output, error) {
	files := checkpoint.NewMap()
	if text(r.Doc(), "layout.name") == string(s.name) {
		files = sub(r.Doc(), "layout.files")
	}
	var out []Output
	for _, k := range s.kinds {
		stored := sub(files, k.name)
		m, err := k.document(r, stored, files.Len() == 0)
		if m == nil && err == nil {
			continue
		}
		var data []byte
		if err == nil {
			data, err = k.bytes(stored, m)
		}
		if err != nil {
			return nil, fmt.Errorf("write %s %s: %w", s.name, k.name, err)
		}
		out = append(out, Output{Path: k.path(stored, m), Data: data})
		if files.Len() == 0 {
			break // the first possible kind is the checkpoint of the layout
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("write %s: the record has nothing that this layout could say", s.name)
	}
	return out, nil
}

// document returns the updated document of a kind, nil if the record has no such
// document.
func (k *kind) document(r *checkpoint.Record, stored *object, fresh bool) (*object, error) {
	if k.whole != nil {
		if !fresh && stored.Len() == 0 {
			return nil, nil
		}
		return k.whole(r, stored), nil
	}
	m, ok := get(stored, "document").(*object)
	switch {
	case ok:
		m = m.Clone()
	case !fresh || k.fresh == nil:
		return nil, nil
	default:
		var err error
		if m, err = k.fresh(r); err != nil {
			return nil, err
		}
	}
	if k.update != nil {
		k.update(r, m)
	}
	return m, nil
}

// path returns the file name of a document. Names from documents cannot leave the folder.
func (k *kind) path(stored, m *object) string {
	if k.file != nil {
		return FileName(k.file(m))
	}
	return FileName(text(stored, "name"))
}
