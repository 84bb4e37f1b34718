package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// allowed are the licences that a program under MIT may be linked with.
var allowed = []string{"MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Apache-2.0", "MPL-2.0", "CC0-1.0", "Unlicense"}

// Every module that is linked has a sum and a licence that fits.
func TestLicences(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range d.Components {
		names[c.Name] = true
		if id := c.Licences[0].Licence.ID; !slices.Contains(allowed, id) {
			t.Errorf("%s has the licence %s", c.Name, id)
		}
		if c.Version == "" || len(c.Sums[0].Value) < 40 {
			t.Errorf("%s lacks a version or a sum: %+v", c.Name, c)
		}
	}
	for _, used := range []string{"github.com/gin-gonic/gin", "github.com/redis/go-redis/v9", "gorm.io/gorm"} {
		if !names[used] {
			t.Errorf("%s is linked, and not on the bill of %d", used, len(names))
		}
	}
	if names["honnef.co/go/tools"] {
		t.Error("staticcheck is on the bill, and is not linked")
	}
}

func TestLicenceOf(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":             "Apache-2.0",
		"Mozilla Public License, version 2.0":                      "MPL-2.0",
		"Redistribution and use in source and\nbinary forms, with": "BSD-2-Clause",
		"All rights reserved. You may not use this.":               "",
		"GNU GENERAL PUBLIC LICENSE Version 3":                     "",
	} {
		if got := licenceOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
