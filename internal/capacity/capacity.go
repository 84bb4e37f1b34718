// Package capacity predicts how many orders a second a sale can make from what one
// order costs: a closed queueing network of processors, rows or locks, and servers
// with one thread. It measures nothing.
package capacity

import "math"

// A Station is what an order has to pass, one after the other if it has one server.
type Station struct {
	Name   string
	Demand float64 // seconds of it that one order needs, over all its visits
	// Servers work side by side; 0 is 1.
	Servers int
}

// An Answer is the steady state of a closed network.
type Answer struct {
	Rate     float64 // orders a second
	Response float64 // seconds that an order takes, without the delay
	Busiest  string  // the station with the least left, by name
	// Utilization of the busiest station, from 0 to 1.
	Utilization float64
}

// Solve is exact mean value analysis of a closed network with one class of
// customers (M. Reiser and S. Lavenberg, Mean-value analysis of closed multichain
// queuing networks, JACM 27:313, 1980): so many customers each send an order after
// the other, which takes the stations and a delay without a queue, in seconds. A
// station of c servers counts as a queue of demand D/c and a delay of D(c-1)/c (A.
// Seidmann, P. Schweitzer and S. Shalev-Oren, 1987), which is exact when it is idle
// and when it is full.
//
// It assumes that service times are exponential and that an order holds one station
// at a time.
func Solve(stations []Station, delay float64, customers int) Answer {
	queue, demand := make([]float64, len(stations)), make([]float64, len(stations))
	for k, s := range stations {
		c := float64(max(1, s.Servers))
		demand[k] = s.Demand / c
		delay += s.Demand * (c - 1) / c
	}
	var a Answer
	for n := 1; n <= customers; n++ {
		all := delay
		for k := range stations {
			all += demand[k] * (1 + queue[k])
		}
		if all == 0 {
			return Answer{Rate: math.Inf(1)}
		}
		a.Rate, a.Response = float64(n)/all, all
		for k := range stations {
			queue[k] = a.Rate * demand[k] * (1 + queue[k])
		}
	}
	for k, s := range stations {
		if u := a.Rate * demand[k]; u > a.Utilization {
			a.Utilization, a.Busiest = u, s.Name
		}
	}
	return a
}

// Delay is the delay without which so many customers would make more orders a
// second than rate: what the stations do not explain, such as the flush of a log.
// 0: the stations alone make less.
func Delay(stations []Station, customers int, rate float64) float64 {
	low, high := 0.0, float64(customers)/rate
	if rate <= 0 || Solve(stations, 0, customers).Rate <= rate {
		return 0
	}
	for range 60 { // a bit of the result each
		middle := (low + high) / 2
		if Solve(stations, middle, customers).Rate > rate {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Busy is the utilization of a single server before which on average so many
// customers wait: Lq = ρ²/(1-ρ) of the queue M/M/1 (L. Kleinrock, Queueing Systems
// I, 1975), solved for ρ.
func Busy(waiting float64) float64 {
	if waiting <= 0 {
		return 0
	}
	return 2 / (1 + math.Sqrt(1+4/waiting)) // the form that does not cancel
}
