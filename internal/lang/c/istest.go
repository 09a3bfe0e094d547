package c

import (
	"path"
	"strings"
)

// IsTest says whether a symbol of a file is test code, by the habits of C and
// C++ projects: a folder of tests, a file's name, or the names that GoogleTest,
// Catch and Check give.
func IsTest(file, symbol string) bool {
	file = strings.ReplaceAll(file, "\\", "/")
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		switch strings.ToLower(dir) {
		case "test", "tests", "testing", "unittest", "unittests", "unit_tests", "gtest", "testsuite", "t":
			return true
		}
	}
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	low := strings.ToLower(base)
	for _, end := range []string{"test", "tests"} {
		if low == end || strings.HasSuffix(low, "_"+end) || strings.HasSuffix(low, "-"+end) || strings.HasSuffix(low, "."+end) ||
			strings.HasPrefix(low, end+"_") || strings.HasPrefix(low, end+"-") {
			return true
		}
	}
	if low == "unittest" || strings.HasSuffix(low, "_unittest") || strings.HasSuffix(base, "Test") || strings.HasSuffix(base, "Tests") {
		return true
	}
	last := symbol[strings.LastIndexByte(symbol, ':')+1:]
	switch last {
	case "TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TEST_CASE", "BOOST_AUTO_TEST_CASE", "TestBody", "START_TEST":
		return true
	}
	return strings.HasPrefix(last, "test_") || strings.HasPrefix(symbol, "Test") && strings.HasPrefix(last, "test")
}
