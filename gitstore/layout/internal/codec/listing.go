package codec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// Listing returns the file list of a system. Layout.Listing describes it.
func (g Registry) Listing(as Name, chains, failed [][]*checkpoint.Record) (string, error) {
	s := g.Find(as)
	var files []ListedFile
	var last error
	for n, chain := range slices.Concat(chains, failed) {
		write := s.FilesOf
		if n >= len(chains) {
			write = s.FailedFilesOf
		}
		outputs, err := write(chain)
		if err != nil {
			last = err
		}
		for _, o := range outputs {
			read := func() (*File, error) { return g.Read(as, s.Folder+"/"+o.Path, o.Data) }
			files = append(files, ListedFile{Output: o, newest: chain[len(chain)-1], read: sync.OnceValues(read)})
		}
	}
	text := ""
	if s.List != nil {
		text = s.List(files)
	} else {
		for _, f := range files {
			text += f.Line()
		}
	}
	if text != "" {
		return text, nil
	}
	return "", last
}

// A ListedFile is a file of a listing.
type ListedFile struct {
	Output
	newest *checkpoint.Record // newest record of its issue
	read   func() (*File, error)
}

// Kind returns the kind of the document, "" if the file is unreadable.
func (f ListedFile) Kind() string {
	doc, err := f.read()
	if err != nil {
		return ""
	}
	return doc.Kind
}

// Line returns the line for a file: name, marks and status.
func (f ListedFile) Line(marks ...string) string {
	words := append([]string{values.Line(f.Path)}, marks...)
	if doc, err := f.read(); err == nil {
		words = append(words, doc.listedWords(f.newest)...)
	}
	return strings.Join(words, " ") + "\n"
}

// listedWords returns the status of a file, with progress and tasks of the newest record.
func (f *File) listedWords(newest *checkpoint.Record) []string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if status := values.Text(newest.Doc(), "workflow.status"); status != "" {
		add("%s", values.Line(status))
	}
	p := newest.Progress()
	switch {
	case p.Current == "" || f.kind.ListNoPhase:
	case p.Total > 0:
		add("phase %s of %d", values.Line(p.Current), p.Total)
	default:
		add("phase %s", values.Line(p.Current))
	}
	of := values.Text(f.Doc, "total_waves")
	if n := values.Sub(f.Doc, "wave_structure").Len(); n > 0 && of == "" {
		of = strconv.Itoa(n)
	}
	if wave := values.Text(f.Doc, "current_wave"); wave != "" && of != "" {
		add("wave %s/%s", values.Line(wave), values.Line(of))
	}
	if done, left := workflow.Tasks(newest); f.kind.ListTasks && len(done)+len(left) > 0 {
		add("tasks %d/%d", len(done), len(done)+len(left))
	}
	if n := values.Sub(f.Doc, "story_state").Len(); n > 0 {
		add("stories %d", n)
	}
	if n, _ := values.Get(f.Doc, "workers").([]any); len(n) > 0 {
		add("workers %d", len(n))
	}
	return words
}
