package rootfs

import (
	"io/fs"
	"syscall"
)

func toStat(info fs.FileInfo) Stat {
	s := Stat{Mode: info.Mode(), Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Ino = sys.Ino
		s.Ctime = sys.Ctim.Nano()
	}
	return s
}
