// Package diff computes the differences between two records or two texts. All functions
// are pure.
//
// Records compares two records, and Lines compares two texts by lines.
//
// Mappings are compared key by key; key order is ignored, and null means absent.
//
// List elements are paired by a shared key. This is the first of keyNames that every
// element of both lists has with a distinct value. If no such key exists, elements are
// paired by content. Paired elements in a different order have moved; the number of moves
// is minimal. If a list has no shared key, unpaired elements between two unmoved elements
// are paired in list order and reported as changed.
//
// The path of a change is a path in the new record, or in the old record if the value was
// removed. checkpoint.Map.Lookup reads these paths.
package diff
