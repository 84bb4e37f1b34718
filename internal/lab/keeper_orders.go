package lab

import "time"

// An order goes from the lab to its keeper, as one line of JSON. One field
// besides ID is set.
type order struct {
	ID     int      `json:"id"`
	Folder string   `json:"folder,omitempty"` // make the lab's folder in this one
	Start  *command `json:"start,omitempty"`
	Signal *request `json:"signal,omitempty"`
	Bye    bool     `json:"bye,omitempty"`
}

// A command is a process to be started.
type command struct {
	Args  []string      `json:"args"`
	Env   []string      `json:"env"`
	Dir   string        `json:"dir,omitempty"`
	Stdin string        `json:"stdin,omitempty"` // a file
	Log   string        `json:"log"`             // a file that both outputs are appended to
	Grace time.Duration `json:"grace,omitempty"` // how long it may take to end by itself; 0: it is killed
}

type request struct {
	PID  int         `json:"pid"`
	What instruction `json:"what"`
}

// An instruction is what a running process can be told.
type instruction string

const (
	pause     instruction = "pause"
	resume    instruction = "resume"
	terminate instruction = "terminate"
	kill      instruction = "kill"
)

// A report goes from the keeper to the lab: the answer to the order ID or, if
// that is 0, the news that a process ended.
type report struct {
	ID     int    `json:"id,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Folder string `json:"folder,omitempty"`
	Error  string `json:"error,omitempty"`
	Ended  string `json:"ended,omitempty"`
}

// endedWell is how a process ends that did what it should.
const endedWell = "exit status 0"
