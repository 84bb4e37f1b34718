// Package redislock holds the locks that are kept in Redis. Every file is one
// strategy and reads like its neighbour, so that the difference between two
// files is the lesson.
package redislock
