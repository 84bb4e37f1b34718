// Package sqlrow deducts from the stock row alone: from the lost update of
// naive to the conditional update, optimistic and pessimistic locking. Every
// file is one strategy and reads like its neighbour, so that the difference
// between two files is the lesson.
package sqlrow
