package layout

import (
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A listedFile is a file of a listing.
type listedFile struct {
	Output
	newest *checkpoint.Record // newest record of its issue
	read   func() (*File, error)
}

// kind returns the kind of the document, "" if the file is unreadable.
func (f listedFile) kind() string {
	doc, err := f.read()
	if err != nil {
		return ""
	}
	return doc.Kind
}

// line returns the line for a file: name, marks and status.
func (f listedFile) line(marks ...string) string {
	words := append([]string{line(f.Path)}, marks...)
	if doc, err := f.read(); err == nil {
		words = append(words, doc.listedWords(f.newest)...)
	}
	return strings.Join(words, " ") + "\n"
}

// linePerFile returns a listing with a line per file.
func linePerFile(files []listedFile) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f.line())
	}
	return b.String()
}

// listedWords returns the status of a file, with progress and tasks of the newest record.
func (f *File) listedWords(newest *checkpoint.Record) []string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if status := text(newest.Doc(), "workflow.status"); status != "" {
		add("%s", line(status))
	}
	p := newest.Progress()
	switch {
	case p.Current == "" || f.kind.listNoPhase:
	case p.Total > 0:
		add("phase %s of %d", line(p.Current), p.Total)
	default:
		add("phase %s", line(p.Current))
	}
	if wave, of := text(f.Doc, "current_wave"), waves(f.Doc); wave != "" && of != "" {
		add("wave %s/%s", line(wave), line(of))
	}
	if done, left := tasksByState(newest); f.kind.listTasks && len(done)+len(left) > 0 {
		add("tasks %d/%d", len(done), len(done)+len(left))
	}
	if n := sub(f.Doc, "story_state").Len(); n > 0 {
		add("stories %d", n)
	}
	if n, _ := get(f.Doc, "workers").([]any); len(n) > 0 {
		add("workers %d", len(n))
	}
	return words
}

// waves returns the number of waves in a plan, "" if unknown.
func waves(m *object) string {
	if n := sub(m, "wave_structure").Len(); n > 0 && text(m, "total_waves") == "" {
		return strconv.Itoa(n)
	}
	return text(m, "total_waves")
}
