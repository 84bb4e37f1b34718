// Package hotsku is about one hot row: strategies that sell by the conditional
// update of sqlrow, and lock the row for less time. Every file is one strategy
// and reads like its neighbour, so that the difference between two files is the
// lesson.
package hotsku
