package c

import "flowplan/internal/lang"

// Releases pair what C programs take with what gives it back: memory, files,
// descriptors, locks.
func Releases() []lang.Release {
	out := []lang.Release{
		{Take: "fopen", Give: "fclose($)", Ends: true},
		{Take: "fdopen", Give: "fclose($)", Ends: true},
		{Take: "tmpfile", Give: "fclose($)", Ends: true},
		{Take: "popen", Give: "pclose($)", Ends: true},
		{Take: "opendir", Give: "closedir($)", Ends: true},
		// A descriptor's number may be another file's by then: no proof.
		{Take: "open", Give: "close($)"},
		{Take: "openat", Give: "close($)"},
		{Take: "creat", Give: "close($)"},
		{Take: "socket", Give: "close($)"},
		{Take: "accept", Give: "close($)"},
		{Take: "dup", Give: "close($)"},
		{Take: "pthread_mutex_lock($)", Give: "pthread_mutex_unlock($)"},
		{Take: "mtx_lock($)", Give: "mtx_unlock($)"},
		{Take: "mutex_lock($)", Give: "mutex_unlock($)"},
		{Take: "spin_lock($)", Give: "spin_unlock($)"},
		{Take: "kmalloc", Give: "kfree($)", Ends: true},
		{Take: "kzalloc", Give: "kfree($)", Ends: true},
		{Take: "g_malloc", Give: "g_free($)", Ends: true},
		{Take: "g_strdup", Give: "g_free($)", Ends: true},
	}
	for _, take := range []string{"malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "strdup", "strndup",
		"xmalloc", "xcalloc", "xstrdup"} {
		out = append(out, lang.Release{Take: take, Give: "free($)", Ends: true})
	}
	return out
}
