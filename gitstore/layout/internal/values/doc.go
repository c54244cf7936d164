// Package values reads and changes the values of documents. Paths have the syntax of
// checkpoint.Map.Lookup. Missing values, null and values of another type read as empty.
package values
