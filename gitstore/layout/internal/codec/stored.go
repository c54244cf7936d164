package codec

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/internal/values"
)

// Reserved lists the keys of a record that belong to git-checkpoint.
var Reserved = []string{"trigger", "agent_turn", "clock", "snapshot", "layout"}

// MaxText limits the original bytes stored with a document. Larger documents are written
// again with equal content.
const MaxText = 1 << 20

// Apply returns the record before with this document applied; before may be nil. A crunch
// document is a complete record and replaces before.
func (f *File) Apply(before *checkpoint.Record) *checkpoint.Record {
	r := before
	if r == nil {
		r = checkpoint.New()
	}
	stored, known := f.stored(), f.kind.Judge != nil && f.In(r)
	if f.kind.Whole != nil {
		r = checkpoint.FromDoc(f.Doc.Clone())
		r.Doc().Delete("layout")
	} else {
		previous := values.Sub(r.Doc(), "layout.files."+f.Kind+".document")
		if f.kind.Forget != nil && values.Text(r.Doc(), "layout.name") == string(f.Layout) && f.kind.Key(previous) == f.kind.Key(f.Doc) {
			f.kind.Forget(r, previous, f.Doc)
		}
		stored.Set("document", f.Doc.Clone())
	}
	layout := values.Sub(r.Doc(), "layout")
	if values.Text(layout, "name") != string(f.Layout) {
		layout = values.NewMap("name", string(f.Layout)) // without the files of the other layout
	}
	r.Doc().Set("layout", layout)
	layout.MustSub("files").Set(f.Kind, stored)
	r.SetTrigger(f.Trigger())
	if f.kind.Apply != nil {
		f.kind.Apply(f.Doc, r)
	}
	if f.kind.Judge != nil && !known {
		f.kind.Judge(r)
	}
	return r
}

// stored returns the metadata for the document: name, version, indentation and original
// bytes.
func (f *File) stored() *checkpoint.Map {
	m := checkpoint.NewMap()
	if f.Path != "" {
		m.Set("name", path.Base(f.Path))
	}
	if f.Version != "" {
		m.Set("version", f.Version)
	}
	if IsJSON(f.data) {
		if n := indentOf(f.data); f.kind.Whole != nil || n != f.kind.indent() {
			m.Set("indent", n)
		}
	}
	data, err := f.kind.encode(m, f.Doc)
	if (err != nil || string(data) != string(f.data) || f.kind.Whole != nil && values.HasAny(f.Doc, Reserved...)) && len(f.data) <= MaxText {
		m.Set("text", string(f.data))
	}
	return m
}

// In reports whether the record already contains this document as its last document of
// this kind.
func (f *File) In(r *checkpoint.Record) bool {
	stored := values.Sub(r.Doc(), "layout.files."+f.Kind)
	if values.Text(r.Doc(), "layout.name") != string(f.Layout) || stored.Len() == 0 {
		return false
	}
	now, err := f.kind.document(r, stored, false)
	if err != nil || now == nil {
		return false
	}
	if issue, ok := f.Doc.Get("issue_number"); ok && f.kind.Whole != nil {
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
	as := Name(values.Text(r.Doc(), "layout.name"))
	for name, stored := range values.Sub(r.Doc(), "layout.files").Subs() {
		if m, ok := stored.Child("document"); ok {
			out = append(out, digest(as, name, m))
		}
	}
	return out
}

func digest(as Name, name string, m *checkpoint.Map) string {
	data, err := m.MarshalJSON()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(string(as)+" "+name+"\n"), data...))
	return hex.EncodeToString(sum[:])
}

// encode returns a document in its original format.
func (k *Kind) encode(stored, m *checkpoint.Map) ([]byte, error) {
	indent := k.indent()
	if n, ok := checkpoint.Number(values.Text(stored, "indent")).Int(); ok {
		indent = int(n)
	} else if k.Whole != nil {
		return checkpoint.FromDoc(m).Encode()
	}
	return encodeJSON(m, indent)
}

// bytes returns the original bytes if the document is unchanged, otherwise its new
// encoding.
func (k *Kind) bytes(stored, m *checkpoint.Map) ([]byte, error) {
	if s := values.Text(stored, "text"); s != "" {
		if k.Lines != nil {
			return []byte(s), nil // log lines contain more than their events
		}
		was, err := checkpoint.DecodeTolerant([]byte(s), checkpoint.DefaultLimits, func(int, int, string) {})
		if err == nil && k.unchanged(k.migrated(was), m) {
			return []byte(s), nil
		}
	}
	return k.encode(stored, m)
}

// unchanged reports whether a document equals the original. Key order is ignored for
// crunch documents, because records have their own order.
func (k *Kind) unchanged(was, m *checkpoint.Map) bool {
	if k.Whole != nil {
		return values.Same(was, m)
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

// Of returns a record as documents: stored documents with updated values, or a new
// document.
func (s *System) Of(r *checkpoint.Record) ([]Output, error) {
	files := checkpoint.NewMap()
	if values.Text(r.Doc(), "layout.name") == string(s.Name) {
		files = values.Sub(r.Doc(), "layout.files")
	}
	// Without a main document, the first possible kind is the checkpoint of the layout.
	lacksMain := !slices.ContainsFunc(s.Kinds, func(k *Kind) bool { return k.Beside == "" && values.Has(files, k.Name) })
	var out []Output
	written := map[string]bool{}
	for _, k := range s.Kinds {
		stored := values.Sub(files, k.Name)
		m, err := k.document(r, stored, len(out) == 0 && lacksMain && k.Beside == "" || written[k.Beside])
		if m == nil && err == nil || err != nil && stored.Len() == 0 && files.Len() > 0 {
			continue
		}
		var data []byte
		if err == nil {
			data, err = k.bytes(stored, m)
		}
		if err == nil {
			err = s.verify(r, k, stored, m)
		}
		if err != nil {
			return nil, fmt.Errorf("write %s %s: %w", s.Name, k.Name, err)
		}
		written[k.Name] = true
		out = append(out, Output{Path: k.path(stored, m), Data: data})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("write %s: the record has no data for this layout", s.Name)
	}
	return out, nil
}

// verify returns an *InvalidError if a new or changed document breaks the rules of its
// kind. The documents of complete records are not checked.
func (s *System) verify(r *checkpoint.Record, k *Kind, stored, m *checkpoint.Map) error {
	was, _ := values.Get(stored, "document").(*checkpoint.Map)
	if k.Whole != nil || was != nil && checkpoint.Equal(was, m) {
		return nil
	}
	f := &File{Layout: s.Name, Path: k.path(stored, m), Problems: k.check(m, "", nil)}
	err := f.Err(false)
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok {
		return err
	}
	var provide []string
	for _, p := range invalid.Problems {
		if k.Provide == nil {
			break
		}
		if command := k.Provide(r.Issue(), p.Path); command != "" {
			provide = append(provide, command)
		}
	}
	invalid.Hint = cmp.Or(strings.Join(provide, "\n"), "git checkpoint show "+failure.IssueArg(string(r.Issue())))
	return invalid
}

// FilesOf returns the files of an issue; its records are sorted oldest first.
func (s *System) FilesOf(records []*checkpoint.Record) ([]Output, error) {
	switch {
	case len(records) == 0:
		return nil, fmt.Errorf("write %s: no checkpoint", s.Name)
	case s.Files != nil:
		return s.Files(records)
	}
	return s.Of(records[len(records)-1])
}

// FailedFilesOf returns the files of an archived workflow that did not complete, in the
// system's subfolder of failed workflows. It returns no files if there is no such folder.
func (s *System) FailedFilesOf(records []*checkpoint.Record) ([]Output, error) {
	if s.Failed == "" {
		return nil, nil
	}
	out, err := s.FilesOf(records)
	for i := range out {
		out[i].Path = s.Failed + strings.TrimPrefix(out[i].Path, s.Failed)
	}
	return out, err
}

// document returns the updated document of a kind, nil if the record has no such
// document.
func (k *Kind) document(r *checkpoint.Record, stored *checkpoint.Map, fresh bool) (*checkpoint.Map, error) {
	if k.Whole != nil {
		if !fresh && stored.Len() == 0 {
			return nil, nil
		}
		return k.Whole(r, stored), nil
	}
	m, ok := values.Get(stored, "document").(*checkpoint.Map)
	switch {
	case ok:
		m = m.Clone()
	case !fresh || k.Fresh == nil:
		return nil, nil
	default:
		var err error
		if m, err = k.Fresh(r); err != nil || m == nil {
			return nil, err
		}
	}
	if k.Update != nil {
		k.Update(r, m)
	}
	return m, nil
}

// path returns the file name of a document. Names from documents cannot leave the folder.
func (k *Kind) path(stored, m *checkpoint.Map) string {
	if k.File != nil {
		return FileName(k.File(m))
	}
	return FileName(values.Text(stored, "name"))
}

// FileName returns a safe file name for a text from a document.
func FileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) || r == 0x7f {
			return '_'
		}
		return r
	}, s)
	if s = strings.TrimLeft(s, ". "); s == "" || len(s) > 200 {
		return "checkpoint.json"
	}
	return s
}

// pointer returns the name in a file that contains only another file's name. Such files
// replace symbolic links.
func pointer(data []byte) string {
	s := strings.Trim(strings.TrimSpace(string(data)), `"`)
	ext := path.Ext(s)
	if len(s) > 200 || strings.ContainsAny(s, "\n{}:[]") || ext != ".json" && ext != ".yaml" {
		return ""
	}
	return s
}
