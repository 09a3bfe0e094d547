package c

import (
	"fmt"
	"strings"
	"testing"

	"flowplan/internal/lang"
)

// brief is frames in one line, the innermost first, other stacks behind.
func brief(frames []lang.Frame) string {
	var out, others []string
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i]
		s := f.Func
		if s == "" {
			s = "-"
		}
		if f.Path != "" {
			s += "@" + f.Path
		}
		if f.Line > 0 {
			s += fmt.Sprintf(":%d", f.Line)
		}
		if f.Stack == "" {
			out = append(out, s)
		} else {
			others = append(others, strings.ReplaceAll(f.Stack, " ", "_")+"="+s)
		}
	}
	return strings.Join(append(out, others...), " ")
}

func TestFrames(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"address", `
==31164==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000080 at pc 0x55a3786904b2
READ of size 4 at 0x603000000080 thread T0
    #0 0x55a3786904b1 in job_report /w/src/jobs.c:48:12
    #1 0x55a37869056f in queue_run /w/src/jobs.c:59
    #2 0x7f0249045249 in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58
    #3 0x55a378690160 in _start (/w/jobs.asan+0x1160) (BuildId: 7d25a9)

0x603000000080 is located 16 bytes inside of 32-byte region [0x603000000070,0x603000000090)
freed by thread T0 here:
    #0 0x7f02492b76a8 in __interceptor_free ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:52
    #1 0x55a37869045f in queue_drop /w/src/jobs.c:41

previously allocated by thread T0 here:
    #0 0x7f02492b89cf in __interceptor_malloc (/lib/libasan.so.8+0xb89cf)
    #1 0x55a37869023e in job_new /w/src/jobs.c:19

SUMMARY: AddressSanitizer: heap-use-after-free /w/src/jobs.c:48 in job_report
  0x0c067fff7fc0: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
==31164==ABORTING
`, "job_report@/w/src/jobs.c:48 queue_run@/w/src/jobs.c:59 __libc_start_call_main@../sysdeps/nptl/libc_start_call_main.h:58 _start@<runtime> " +
			"allocated=__interceptor_malloc@/lib/libasan.so.8 allocated=job_new@/w/src/jobs.c:19 " +
			"freed=__interceptor_free@../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:52 freed=queue_drop@/w/src/jobs.c:41"},

		{"address of a local and of a global", `
==1==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7ff
    #0 0x4c in fill a.c:7:3
Address 0x7ff is located in stack of thread T0 at offset 36 in frame
    #0 0x4c in table a.c:20
  This frame has 1 object(s):
    [32, 36) 'x' (line 21) <== Memory access at offset 36 overflows this variable
0x55 is located 0 bytes after global variable 'limits' defined in 'src/b.c:3:5' (0x55) of size 40
`, "fill@a.c:7 defined=-@src/b.c:3 on_the_stack_of=table@a.c:20"},

		{"colours, a log's prefix, a path with spaces, Windows", "web_1  | \x1b[1m\x1b[31m==1==ERROR: AddressSanitizer: SEGV\x1b[1m\x1b[0m\r\n" +
			"web_1  |     #0 0x7ff6 in ns::A<int>::f(int, char const*) C:\\my proj\\src\\a.cpp:12\r\n" +
			"web_1  |     #1 0x7ff7 in main /home/me/my proj/main.cpp:3:5\r\n",
			`ns::A::f@C:\my proj\src\a.cpp:12 main@/home/me/my proj/main.cpp:3`},

		{"names of C++", `
    #0 0x1 in int const& std::min<int>(int const&, int const&) /usr/include/c++/12/bits/stl_algobase.h:235
    #1 0x2 in shop::Cheapest::operator()(shop::Table<shop::Price> const&, unsigned long) const /w/prices.cc:36
    #2 0x3 in operator() /w/prices.cc:45
    #3 0x4 in shop::lowest(shop::Table<shop::Price> const&, int)::$_0::operator()(unsigned long) const /w/prices.cc:45
    #4 0x5 in (anonymous namespace)::go(int) /w/prices.cc:47
    #5 0x6 in shop::V::operator bool() const /w/prices.cc:48
    #6 0x7 in shop::V& shop::operator<<<int>(shop::V&, int) /w/prices.cc:49
    #7 0x8 in shop::V::operator->() /w/prices.cc:50
    #8 0x9 in shop::V::~V() /w/prices.cc:51
    #9 0xa in std::enable_if<(1 > 0), int>::type shop::pick<int, (shop::K)3>(int) [clone .isra.0] /w/prices.cc:52
    #10 0xb in helper.constprop.0 /w/prices.cc:53
`, "std::min@/usr/include/c++/12/bits/stl_algobase.h:235 shop::Cheapest::operator()@/w/prices.cc:36 <lambda>@/w/prices.cc:45 <lambda>@/w/prices.cc:45 " +
			"go@/w/prices.cc:47 shop::V::operator bool@/w/prices.cc:48 shop::operator<<@/w/prices.cc:49 shop::V::operator->@/w/prices.cc:50 " +
			"shop::V::~V@/w/prices.cc:51 shop::pick@/w/prices.cc:52 helper@/w/prices.cc:53"},

		{"names without places", `
==1==ERROR: AddressSanitizer: SEGV on unknown address
    #0 0x4a in __asan_memcpy (/w/prog+0x4a)
    #1 0x4b in ns::copy(char*) (/w/prog+0x4b) (BuildId: 12ab)
    #2 0x4c  (/w/prog+0x4c)
    #3 0x4d in abort (/lib/x86_64-linux-gnu/libc.so.6+0x26)
    #4 0x4e in <null> <null>
`, "__asan_memcpy@<runtime> ns::copy abort@/lib/x86_64-linux-gnu/libc.so.6"},

		{"leak", `
==31176==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 9 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x55 in copy keep.c:9

Indirect leak of 3 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x55 in other keep.c:90
SUMMARY: AddressSanitizer: 9 byte(s) leaked in 1 allocation(s).
`, "__interceptor_malloc@../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69 copy@keep.c:9"},

		{"thread", `
WARNING: ThreadSanitizer: data race (pid=31196)
  Read of size 8 at 0x5576fc1bd0a8 by thread T2:
    #0 tally_add /w/tally.c:14 (tally.ts+0x11d5)
    #1 count /w/tally.c:20:9 (tally.ts+0x1245) (BuildId: ab)

  Previous write of size 8 at 0x5576fc1bd0a8 by thread T1:
    #0 reset /w/tally.c:30 (tally.ts+0x11f5)

  Location is global 'total' of size 48 at 0x5576fc1bd080 (tally.ts+0x40a8)

  Thread T2 (tid=31199, running) created by main thread at:
    #0 pthread_create ../../../../src/libsanitizer/tsan/tsan_interceptors_posix.cpp:1001 (libtsan.so.2+0x5e686)
    #1 main /w/tally.c:28 (tally.ts+0x12c0)
SUMMARY: ThreadSanitizer: data race /w/tally.c:14 in tally_add
`, "tally_add@/w/tally.c:14 count@/w/tally.c:20 " +
			"thread_begun=pthread_create@../../../../src/libsanitizer/tsan/tsan_interceptors_posix.cpp:1001 thread_begun=main@/w/tally.c:28 other_write=reset@/w/tally.c:30"},

		{"memory", `
==31203==WARNING: MemorySanitizer: use-of-uninitialized-value
    #0 0x56 in inside unset.c:22:9
  Uninitialized value was created by a heap allocation
    #0 0x57 in malloc (/w/unset.ms+0x55c90) (BuildId: 7d25)
    #1 0x58 in limits_new unset.c:11:24
SUMMARY: MemorySanitizer: use-of-uninitialized-value unset.c:22:9 in inside
`, "inside@unset.c:22 uninitialised_since=malloc@<runtime> uninitialised_since=limits_new@unset.c:11"},

		{"undefined", "clamp.c:8:18: runtime error: shift exponent -3 is negative\n", "-@clamp.c:8"},
		{"undefined with a stack", `
/w/clamp.c:8:18: runtime error: shift exponent -3 is negative
    #0 0x56 in scale /w/clamp.c:8
    #1 0x56 in adjust /w/clamp.c:14
SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior /w/clamp.c:8:18 in
`, "scale@/w/clamp.c:8 adjust@/w/clamp.c:14"},
		{"undefined before another error", `
a.c:8:18: runtime error: shift exponent -3 is negative
==1==ERROR: AddressSanitizer: SEGV on unknown address
    #0 0x56 in scale /w/a.c:20
`, "scale@/w/a.c:20 runtime_error=-@a.c:8"},
		{"undefined before a leak", `
a.c:8:18: runtime error: shift exponent -3 is negative
Direct leak of 9 byte(s) in 1 object(s) allocated from:
    #0 0x55 in copy keep.c:9
`, "-@a.c:8 leaked=copy@keep.c:9"},
		{"a summary alone", "SUMMARY: AddressSanitizer: heap-use-after-free /w/jobs.c:48:3 in job_report\n", "job_report@/w/jobs.c:48"},
		{"one frame alone", "#2 0x55a3 in queue_run /w/jobs.c:59", "queue_run@/w/jobs.c:59"},

		{"valgrind", `
==31216== Command: ./jobs
==31216== 
==31216== Invalid read of size 4
==31216==    at 0x10927B: shop::job_report(int, char const*) (jobs.c:48)
==31216==    by 0x1092E0: queue_run (jobs.c:59)
==31216==    by 0x1092E1: ???
==31216==    by 0x1092E2: qsort (in /usr/lib/x86_64-linux-gnu/libc.so.6)
==31216==    by 0x1092E3: bare (in /w/prog)
==31216==  Address 0x4a400b0 is 16 bytes inside a block of size 32 free'd
==31216==    at 0x484417B: free (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==31216==    by 0x10925B: queue_drop (jobs.c:41)
==31216==  Block was alloc'd at
==31216==    at 0x48417B4: malloc (vg_replace_malloc.c:381)
==31216==    by 0x10918E: job_new (jobs.c:19)
==31216== 
==31216== Invalid write of size 4
==31216==    at 0x10927B: elsewhere (jobs.c:90)
==31216==  Address 0x4a400b0 is 16 bytes inside a block of size 32 free'd
==31216==    at 0x484417B: free (vg_replace_malloc.c:538)
`, "shop::job_report@jobs.c:48 queue_run@jobs.c:59 qsort@/usr/lib/x86_64-linux-gnu/libc.so.6 bare " +
			"allocated=malloc@vg_replace_malloc.c:381 allocated=job_new@jobs.c:19 " +
			"freed=free@/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so freed=queue_drop@jobs.c:41"},
		{"valgrind's leak, with times", `
==00:00:00:01.234 7== 9 bytes in 1 blocks are definitely lost in loss record 1 of 1
==00:00:00:01.234 7==    at 0x48417B4: malloc (vg_replace_malloc.c:381)
==00:00:00:01.234 7==    by 0x1091A4: copy (/w/src/keep.c:9)
`, "malloc@vg_replace_malloc.c:381 copy@/w/src/keep.c:9"},

		{"gdb", `
Program received signal SIGSEGV, Segmentation fault.
0x0000555555555135 in node_key (n=0x0) at /w/tree.c:11
11	    return n->key;
#0  0x0000555555555135 in node_key (n=0x0) at /w/tree.c:11
No locals.
#1  0x00005555555551a3 in successor (n=0x7fffffffe680, s=0x55 "at (b.c:3)") at ../src/tree.c:26
        s = 0x0
        t = "#3 at (x.c:3)"
#2  shop::lowest(shop::Table<int> const&)::{lambda(unsigned long)#1}::operator()(unsigned long) const (__closure=0x7ff, from=0)
    at /w/prices.cc:45
#3  std::operator<< <std::char_traits<char> > (
    o=..., s=0x0) at /usr/include/ostream:12
#4  0x00007ffff in (anonymous namespace)::go<int> (x=1) at /w/p.cc:3
#5  0x00007ffff7a in qsort () from /lib/x86_64-linux-gnu/libc.so.6
#6  0x0000555 in undebugged ()
#7  0x0000555 in ?? ()
#8  main (argc=1, argv=0x7fffffffe7d8) at tree.c:34
`, "node_key@/w/tree.c:11 successor@../src/tree.c:26 <lambda>@/w/prices.cc:45 std::operator<<@/usr/include/ostream:12 go@/w/p.cc:3 " +
			"qsort@/lib/x86_64-linux-gnu/libc.so.6 undebugged - main@tree.c:34"},
		{"gdb's stop alone", "Program received signal SIGSEGV, Segmentation fault.\n0x0000555 in node_key (n=0x0) at /w/tree.c:11\n11\t    return n->key;\n", "node_key@/w/tree.c:11"},
		{"gdb in a signal handler", `
#0  raise (sig=6) at raise.c:51
#1  0x1 in on_segv (s=11) at main.c:9
#2  <signal handler called>
#3  0x2 in inner (p=0x0) at main.c:20
#4  0x3 in main () at main.c:30
`, "inner@main.c:20 main@main.c:30"},
		{"gdb, all threads", `
Thread 2 "worker" received signal SIGSEGV, Segmentation fault.
Thread 3 (Thread 0x7f (LWP 3) "pool"):
#0  wait (x=1) at pool.c:3
#1  loop () at pool.c:4

Thread 2 (Thread 0x7f (LWP 2) "worker"):
#0  work (p=0x0) at work.c:5

Thread 1 (Thread 0x7f (LWP 1) "main"):
#0  join () at main.c:6
`, "work@work.c:5"},
		{"lldb", "  * frame #0: 0x0000000100003f50 prog`node_key(n=0x0000) at tree.c:11:15\n    frame #1: 0x0000000100003f70 prog`main at tree.c:34:9 [opt]\n", "node_key@tree.c:11 main@tree.c:34"},

		{"assert", "prog: /w/src/a.c:12: int ns::f(int): Assertion `n > 0' failed.\nAborted (core dumped)\n", "ns::f@/w/src/a.c:12"},
		{"assert of a Mac", "Assertion failed: (n > 0), function f, file a.c, line 12.\n", "f@a.c:12"},
		{"assert and a stack", "prog: a.c:12: f: Assertion `n > 0' failed.\n#0  0x1 in raise () from /lib/libc.so.6\n#1  0x2 in f (n=0) at /w/a.c:12\n", "raise@/lib/libc.so.6 f@/w/a.c:12"},
		{"glibc", "./prog(parse+0x2a) [0x55d0]\n./prog(_ZN2ns4Node5visitEi+0x10)[0x55d1]\n/lib/x86_64-linux-gnu/libc.so.6(__libc_start_main+0xeb) [0x7f]\n./prog(+0x11) [0x55]\n", "parse ns::Node::visit __libc_start_main@/lib/x86_64-linux-gnu/libc.so.6"},
		{"catchsegv", "/w/a.c:5(f)[0x400586]\n/w/a.c:10(main)[0x400596]\n", "f@/w/a.c:5 main@/w/a.c:10"},
		{"boost", " 0# parse(int) at /w/a.cpp:12\n 1# main at /w/a.cpp:20\n 2# 0x00007F in prog\n", "parse@/w/a.cpp:12 main@/w/a.cpp:20"},

		{"prose", "Fixes #12 in parser (again), see #3 foo.c:12.\n#4 crash (sometimes)\nlook at foo.c:12\nparse at 0x12: no\n", ""},
		{"references", "ns::A::f\nsrc/a.c:12\nsrc/a.c:f\noperator()\nC.f#2\n", ""},
		{"Python", "  File \"a.py\", line 3, in f\n    x = g()  # at 0x3\nValueError: x\n", ""},
	} {
		if got := brief(frames(c.text)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestIsTest(t *testing.T) {
	for _, c := range []struct {
		path, symbol string
		want         bool
	}{
		{"src/jobs.c", "job_new", false}, {"tests/jobs.c", "job_new", true}, {"test/a/jobs.c", "", true}, {"src/jobs_test.cc", "", true},
		{"src/test_jobs.c", "", true}, {"src/JobsTest.cpp", "", true}, {"src/jobs-test.c", "", true}, {"src/jobs_unittest.cc", "", true},
		{"src/latest.c", "f", false}, {"src/contest.c", "f", false}, {"src/attestation.c", "f", false}, {"src/a.c", "test_parse", true},
		{"src/a.cc", "TEST_F", true}, {"src/a.cc", "ns::TestFoo", false}, {"src/a.cc", "tester", false}, {`src\tests\a.cc`, "", true},
	} {
		if got := IsTest(c.path, c.symbol); got != c.want {
			t.Errorf("%s %s: got %v", c.path, c.symbol, got)
		}
	}
}

// What is no report costs nothing and breaks nothing.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{"#0 0x1 in f a.c:1", "==1==    at 0x1: f (a.c:1)", "#0  f (x=1) at a.c:1", "operator operator() (", "_ZN999x", "a.c:1:1: runtime error: x", "#0 f<<<(((\n    at x:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, fr := range frames(s) {
			if fr.Line < 0 || fr.Col < 0 {
				t.Errorf("%q: %+v", s, fr)
			}
		}
	})
}
