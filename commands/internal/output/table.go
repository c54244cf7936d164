package output

import (
	"io"
	"strings"
)

// Table formats aligned columns. The zero value is ready for use.
type Table struct {
	Width int // maximum line width, beyond which the last column is truncated; 0 means unlimited

	rows  [][]string
	right []bool
}

// Right right-aligns columns by 0-based index.
func (t *Table) Right(columns ...int) {
	for _, c := range columns {
		for len(t.right) <= c {
			t.right = append(t.right, false)
		}
		t.right[c] = true
	}
}

// Row adds a row with cleaned cells.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = Clean(c)
	}
	t.rows = append(t.rows, row)
}

// Write writes the table with two spaces between columns and without trailing spaces.
func (t *Table) Write(w io.Writer) error {
	var b strings.Builder
	widths := t.widths()
	for _, row := range t.rows {
		line := strings.TrimRight(t.line(row, widths), " ")
		if t.Width > 0 {
			line = Truncate(line, t.Width)
		}
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) line(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", widths[i]-Width(cell))
		if i < len(t.right) && t.right[i] {
			b.WriteString(pad + cell)
			continue
		}
		b.WriteString(cell + pad)
	}
	return b.String()
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	return widths
}
