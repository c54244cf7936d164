package layout

import (
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Listing returns the file list of a layout's system: for crunch the index of each issue,
// for other layouts a line per file. Failed claude workflows are listed separately. The
// records of each issue are sorted oldest first. Listing fails if no issue can be written
// in the layout.
func Listing(as Name, chains [][]*checkpoint.Record) (string, error) {
	var active, failures []string
	var last error
	for _, chain := range chains {
		outputs, err := Files(as, chain)
		if err != nil {
			last = err
			continue
		}
		for _, o := range outputs {
			switch {
			case as == Crunch && o.Path == "index.yaml":
				active = append(active, string(o.Data))
			case as == Crunch:
			case strings.HasPrefix(o.Path, "failed/"):
				failures = append(failures, listed(as, o, chain))
			default:
				active = append(active, listed(as, o, chain))
			}
		}
	}
	switch {
	case len(active)+len(failures) == 0:
		return "", last
	case as == Crunch:
		return strings.Join(active, "---\n"), nil
	case as == Claude:
		return headed("Active Checkpoints:\n", active) + headed("Failed Checkpoints:\n", failures), nil
	}
	return strings.Join(active, ""), nil
}

func headed(head string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return head + "  " + strings.Join(lines, "  ")
}

// listed returns the line for a file: name, kind if ambiguous, and status.
func listed(as Name, o Output, chain []*checkpoint.Record) string {
	r := chain[len(chain)-1]
	words := []string{line(o.Path)}
	if f, err := Read(as, Folder(as, "")+"/"+o.Path, o.Data); err == nil {
		if as == Claude && f.Kind != "checkpoint" {
			words = append(words, "("+f.Kind+")")
		}
		words = append(words, standing(f, r)...)
	}
	return strings.Join(words, " ") + "\n"
}

// standing returns the status of a file as words.
func standing(f *File, r *checkpoint.Record) []string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if status := text(r.Doc(), "workflow.status"); status != "" {
		add("%s", line(status))
	}
	p := r.Progress()
	switch {
	case p.Current == "" || f.Kind == "execution" || f.Kind == "state":
	case p.Total > 0:
		add("phase %s of %d", line(p.Current), p.Total)
	default:
		add("phase %s", line(p.Current))
	}
	if wave, of := text(f.doc, "current_wave"), waves(f.doc); wave != "" && of != "" {
		add("wave %s/%s", line(wave), line(of))
	}
	if done, all := finished(r); all > 0 && (f.Kind == "execution" || f.Kind == "story" || f.Kind == "tasks") {
		add("tasks %d/%d", done, all)
	}
	if n := sub(f.doc, "story_state").Len(); n > 0 {
		add("stories %d", n)
	}
	if n, _ := get(f.doc, "workers").([]any); len(n) > 0 {
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

// finished counts the completed and total tasks of a record.
func finished(r *checkpoint.Record) (done, all int) {
	for _, v := range sub(r.Doc(), "tasks").All() {
		all++
		if t, _ := v.(*object); over(text(t, "status")) {
			done++
		}
	}
	return done, all
}
