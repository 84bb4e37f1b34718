package measure

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// Sentences are what the proof says, in Chinese. nil leaves all as it is, in
// English.
type Sentences struct {
	said     map[string]string   // by sentence, # for a number and @ for an actor
	asks     map[string]string   // by question
	measured map[string][]string // by part: in full, and for a cell
}

// ReadSentences reads them from the page's files, so that page and reports use
// the same words. English has none.
func ReadSentences(page fs.FS, language string) (*Sentences, error) {
	if language == "" || language == "en" {
		return nil, nil
	}
	var s Sentences
	for name, into := range map[string]any{"proof": &s.said, "asks": &s.asks, "measured": &s.measured} {
		file := "guarantees/text/" + name + "." + language + ".js"
		text, err := fs.ReadFile(page, file)
		if err != nil {
			return nil, fmt.Errorf("the proof's sentences: %w", err)
		}
		_, object, _ := strings.Cut(string(text), "export default ")
		object = strings.TrimSuffix(strings.TrimSpace(object), ",\n};") + "\n}"
		if err := json.Unmarshal([]byte(object), into); err != nil {
			return nil, fmt.Errorf("%s is not written as JSON, a sentence on each line: %w", file, err)
		}
	}
	return &s, nil
}

// Asks is what a question asks.
func (s *Sentences) Asks(q Question) string {
	if s != nil && s.asks[q.ID] != "" {
		return s.asks[q.ID]
	}
	return q.Asks
}

// Sign is the cell's sign, or what was measured in a few words.
func (s *Sentences) Sign(c Cell) string {
	if s == nil || c.Answer != "measured" {
		return c.Sign()
	}
	var short []string
	for _, part := range strings.Split(c.Text, "; ") {
		if words := s.measured[part]; len(words) > 1 {
			short = append(short, words[1])
		} else if len(words) == 0 {
			short = append(short, part)
		}
	}
	return strings.Join(short, " ")
}

var holes = regexp.MustCompile(`-?\d+(?:\.\d+)?|\b(?:A|B|C|next)\b`)

// Text is the cell's text.
func (s *Sentences) Text(c Cell) string {
	if s == nil || c.Text == "" {
		return c.Text
	}
	if c.Answer == "measured" {
		parts := strings.Split(c.Text, "; ")
		for i, part := range parts {
			if words := s.measured[part]; len(words) > 0 {
				parts[i] = words[0]
			}
		}
		return strings.Join(parts, "；")
	}
	args := holes.FindAllString(c.Text, -1)
	said, known := s.said[holes.ReplaceAllStringFunc(c.Text, func(hole string) string {
		if strings.ContainsAny(hole, "0123456789") {
			return "#"
		}
		return "@"
	})]
	if !known {
		return c.Text
	}
	for i, arg := range args {
		if arg == "next" {
			arg = "下一个"
		}
		said = strings.ReplaceAll(said, "{"+strconv.Itoa(i)+"}", arg)
	}
	return said
}
