//go:build !linux

package rootfs

import "io/fs"

// Elsewhere size and mtime must do.
func toStat(info fs.FileInfo) Stat {
	return Stat{Mode: info.Mode(), Size: info.Size(), Mtime: info.ModTime().UnixNano()}
}
