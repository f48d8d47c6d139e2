package cli

import (
	"fmt"
	"os/exec"
	"runtime"
)

// openInBrowser hands the page to the desktop's browser and does not wait.
func openInBrowser(path string) error {
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open %s in the browser: %w", path, err)
	}
	return cmd.Process.Release()
}
