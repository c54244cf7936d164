// Package compare says how one record became another. It decides nothing and
// reads nothing: both sides are values.
//
// Mappings are compared key by key, whatever the order of the keys; null means
// absent, as everywhere in a record. An element of a list is the same one on
// both sides by the first of keyNames that every element has with a value of
// its own, and where there is none, by what it says. Elements that are the same
// and stand in another order have moved; as few as can be are told to have.
// What is left between two elements that stayed is compared in its order.
//
// The path of a change leads to it in the new record, and in the old one where
// the new one does not have it, the way checkpoint.Map.Lookup reads paths.
package compare
