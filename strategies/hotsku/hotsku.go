// Package hotsku is about the one row that everybody wants: strategies that sell
// by the conditional update of sqlrow, and hold the row for less time. Every
// file is one strategy and reads like its neighbour, so that the difference
// between two files is the lesson.
package hotsku
