//go:build !linux

package main

import "os/exec"

// startOnProcessor starts cmd. Only on Linux does it choose a processor.
func startOnProcessor(cmd *exec.Cmd, _ int) error { return cmd.Start() }
