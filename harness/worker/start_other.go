//go:build !linux

package worker

import "os/exec"

// startAndWait starts the child; its end comes on the channel.
func startAndWait(cmd *exec.Cmd) (<-chan error, error) {
	exited := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { exited <- cmd.Wait() }()
	return exited, nil
}
