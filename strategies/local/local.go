// Package local locks inside the program: a mutex, and what a mutex cannot do.
// It is where most people begin, and each file takes one step further: a mutex
// that nobody shares, one for the whole process, one for each SKU. None of them
// is seen by another process.
package local
