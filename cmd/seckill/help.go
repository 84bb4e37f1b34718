package main

import (
	"slices"

	"github.com/alecthomas/kong"
)

// groups of flags, by the tag group. Flags of the group rare are for --help-all:
// --help of a command that has it fits on one screen.
var groups = kong.ExplicitGroups([]kong.Group{
	{Key: "sale", Title: "The sale:"},
	{Key: "time", Title: "When purchases are sent:"},
	{Key: "rare", Title: "Rarely needed:"},
})

var helpOptions = kong.HelpOptions{Compact: true, ValueFormatter: kong.DefaultHelpValueFormatter}

// helpAll is the flag --help-all of a command with rare flags.
type helpAll bool

// IgnoreDefault has kong not set it.
func (helpAll) IgnoreDefault() {}

// BeforeReset prints the help before the command line is checked, as --help does.
func (helpAll) BeforeReset(line *kong.Context) error {
	err := kong.DefaultHelpPrinter(helpOptions, line)
	line.Exit(0)
	return err
}

// printHelp is what --help prints. Of a command with --help-all it leaves out the
// rare flags and the names of variables.
func printHelp(options kong.HelpOptions, line *kong.Context) error {
	if isHelpAll := func(f *kong.Flag) bool { return f.Name == "help-all" }; slices.ContainsFunc(line.Flags(), isHelpAll) {
		for _, f := range line.Flags() {
			f.Hidden = f.Group != nil && f.Group.Key == "rare"
		}
		options.ValueFormatter = func(v *kong.Value) string { return v.Help }
	}
	return kong.DefaultHelpPrinter(options, line)
}
