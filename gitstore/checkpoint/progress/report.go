package progress

import (
	"math"
	"slices"
	"strconv"

	"git-checkpoint/gitstore/checkpoint"
)

// Attach records the report of a phase without a change of status.
func (s Step) Attach(r *checkpoint.Record, report Report) {
	if !report.isEmpty() {
		report.record(phaseSection(r, s.Phase))
	}
}

// record merges a report into the section of a phase. New values replace old values, and
// artifacts are keyed by path.
func (p Report) record(m *checkpoint.Map) {
	putText(m, "summary", p.Summary)
	if p.Output.Path != "" {
		m.Set("output", checkpoint.QuotePath(p.Output.Path))
		setText(m, "output_digest", p.Output.Digest)
	}
	if len(p.Artifacts) == 0 {
		return
	}
	v, _ := m.Get("artifacts")
	list, _ := v.([]any)
	list = slices.Clone(list)
	for _, a := range p.Artifacts {
		list = append(slices.DeleteFunc(list, func(v any) bool { return artifactOf(v).Path == a.Path }), a.section())
	}
	m.Set("artifacts", list)
}

func (a Artifact) section() *checkpoint.Map {
	m := checkpoint.NewMap()
	m.Set("path", checkpoint.QuotePath(a.Path))
	m.Set("size", a.Size)
	putText(m, "digest", a.Digest)
	putText(m, "title", a.Title)
	return m
}

// artifactOf parses an artifact. Other systems write only the path.
func artifactOf(v any) Artifact {
	m, ok := v.(*checkpoint.Map)
	if !ok {
		path, _ := v.(string)
		return Artifact{Path: unquoted(path)}
	}
	return Artifact{
		Path: unquoted(m.Text("path")), Digest: m.Text("digest"), Title: m.Text("title"), Size: int64(intOf(m, "size")),
	}
}

// unquoted returns the unquoted path, or s itself if s is not a valid quoted path.
func unquoted(s string) string {
	if p, err := checkpoint.UnquotePath(s); err == nil {
		return p
	}
	return s
}

// An Of is an artifact with its phase.
type Of struct {
	Phase string
	Artifact
}

// Artifacts returns the artifacts and outputs of all phases, in record order.
func Artifacts(r *checkpoint.Record) []Of {
	var out []Of
	for phase, v := range r.Doc().Sub("progress").Sub("phases").All() {
		m, _ := v.(*checkpoint.Map)
		if place := m.Text("output"); place != "" {
			out = append(out, Of{phase, Artifact{Path: unquoted(place), Digest: m.Text("output_digest")}})
		}
		l, _ := m.Get("artifacts")
		list, _ := l.([]any)
		for _, v := range list {
			if a := artifactOf(v); a.Path != "" {
				out = append(out, Of{phase, a})
			}
		}
	}
	return out
}

// Minutes returns the total known duration of all completed phases, the work that a
// resume preserves.
func Minutes(r *checkpoint.Record) float64 {
	total := 0.0
	for _, phase := range r.Progress().Completed {
		m := r.Doc().Sub("progress").Sub("phases").Sub(phase)
		if n, err := strconv.ParseFloat(m.Text("duration_minutes"), 64); err == nil && n > 0 && !math.IsInf(n, 1) {
			total += n
		}
	}
	return math.Round(total*100) / 100
}
