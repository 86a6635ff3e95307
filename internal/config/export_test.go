package config

import "strings"

// Leaves returns the path of every key that has one value and a variable.
func Leaves() (paths [][]string) {
	new(reader).schema().leaves(func(path []string) { paths = append(paths, path) })
	return paths
}

// Variable returns the name of a path in the environment.
func Variable(path []string) string {
	return envPrefix + strings.ToUpper(strings.Join(path, "_"))
}

// Near is near.
func Near(s string, words ...string) string { return near(s, words) }

const MaxFaults = maxFaults
