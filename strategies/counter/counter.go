// Package counter sells from a number in Redis: alone, and in front of the
// stock row.
package counter
