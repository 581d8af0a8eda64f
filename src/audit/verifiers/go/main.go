// Command carteiro-audit checks Carteiro's checkpoints and proofs by golang.org/x/mod/sumdb, code that nobody at Carteiro
// wrote: note verifies the signatures, tlog the inclusion and the consistency.
//
//	go run . check PROOF KEY...                    prints confere and motivo; exit 0 true, 3 null, 1 false
//	go run . consistency ANSWER OLD NEW KEY
//	go run . header LINE KEY
//	go run . vectors FILE
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "check" {
		os.Exit(printCheck(os.Args[2], os.Args[3:]))
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) < 2 || os.Args[1] != "vectors" {
		fmt.Println("ok")
	}
}

func run(words []string) error {
	switch {
	case len(words) == 5 && words[0] == "consistency":
		return consistency(words[1], words[2], words[3], words[4])
	case len(words) == 3 && words[0] == "header":
		_, err := open(noteOf(words[1]), words[2])
		return err
	case len(words) == 2 && words[0] == "vectors":
		return vectors(words[1])
	}
	return fmt.Errorf("usage: check PROOF KEY... | consistency ANSWER OLD NEW KEY | header LINE KEY | vectors FILE")
}

// printCheck judges a proof's file, and returns the exit code.
func printCheck(file string, keys []string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	verdict, why := check(text, keys)
	answer := map[string]any{"confere": verdict, "motivo": why}
	if why == "" {
		answer["motivo"] = nil
	}
	printed, _ := json.Marshal(answer)
	fmt.Println(string(printed))
	return map[any]int{true: 0, nil: 3, false: 1}[verdict]
}

// open verifies a checkpoint's signature and returns its tree.
func open(text string, keys ...string) (tlog.Tree, error) {
	var verifiers []note.Verifier
	for _, key := range keys {
		verifier, err := note.NewVerifier(key)
		if err != nil {
			return tlog.Tree{}, err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifiers...))
	if err != nil {
		return tlog.Tree{}, err
	}
	tree := treeOf(opened.Text)
	if tree.N == 0 {
		return tree, fmt.Errorf("no checkpoint")
	}
	return tree, nil
}

var treeForm = regexp.MustCompile(`^[^\n]+\n([1-9]\d{0,14})\n([A-Za-z0-9+/]{43}=)\n`)

// treeOf reads a checkpoint's text; an empty tree where it is none.
func treeOf(text string) tlog.Tree {
	found := treeForm.FindStringSubmatch(text)
	if found == nil {
		return tlog.Tree{}
	}
	size, _ := strconv.ParseInt(found[1], 10, 64)
	root, err := tlog.ParseHash(found[2])
	if err != nil {
		return tlog.Tree{}
	}
	return tlog.Tree{N: size, Hash: root}
}

// noteOf is the signed note that a delivery's X-Carteiro-Checkpoint stands for.
func noteOf(header string) string {
	part := strings.Split(header, " ")
	if len(part) != 4 {
		return ""
	}
	return strings.Join(part[:3], "\n") + "\n\n— " + part[0] + " " + part[3] + "\n"
}

func hashes(texts []string) ([]tlog.Hash, error) {
	parsed := make([]tlog.Hash, 0, len(texts))
	for _, text := range texts {
		hash, err := tlog.ParseHash(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, hash)
	}
	return parsed, nil
}

func read(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func consistency(file, old, now, key string) error {
	var answer struct {
		Path []string `json:"caminho"`
	}
	if err := read(file, &answer); err != nil {
		return err
	}
	var trees [2]tlog.Tree
	for i, name := range []string{old, now} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if trees[i], err = open(string(text), key); err != nil {
			return err
		}
	}
	path, err := hashes(answer.Path)
	if err != nil {
		return err
	}
	return tlog.CheckTree(path, trees[1].N, trees[1].Hash, trees[0].N, trees[0].Hash)
}

// vectors judges the published vectors, and names the first that it judges otherwise.
func vectors(file string) error {
	type hash = tlog.Hash
	var v struct {
		Keys []string
		Rows []struct {
			Table string
			Entry []byte
			Leaf  hash
		}
		Turn struct {
			Leaves []hash
			Root   hash
		}
		Seals []struct {
			Entry string
			Leaf  hash
		}
		Roots []struct {
			Size int64
			Root hash
		}
		Inclusion []struct {
			Name        string
			Valid       bool
			Leaf, Root  hash
			Index, Size int64
			Path        []hash
		}
		Consistency []struct {
			Name      string
			Valid     bool
			Old, Size int64
			OldRoot   hash `json:"old_root"`
			Root      hash
			Path      []hash
		}
		Checkpoints []struct {
			Name, Note string
			Valid      bool
			Size       int64
			Root       hash
		}
		Headers []struct{ Name, Header, Verdict string }
		Proofs  []struct {
			Name, Of, Text string
			Verdict        any
			Edits          [][2]string
		}
	}
	if err := read(file, &v); err != nil {
		return err
	}
	count := 0
	var wrong error
	judge := func(name string, found, published bool) {
		if count++; found != published && wrong == nil {
			wrong = fmt.Errorf("%s: %v here, %v published", name, found, published)
		}
	}
	for _, r := range v.Rows {
		judge(r.Table, tlog.RecordHash(r.Entry) == r.Leaf, true)
	}
	judge("the turn", rootOf(v.Turn.Leaves) == v.Turn.Root, true)
	var leaves []hash
	for _, seal := range v.Seals {
		leaves = append(leaves, tlog.RecordHash([]byte(seal.Entry)))
		judge("a seal", leaves[len(leaves)-1] == seal.Leaf, true)
	}
	for _, one := range v.Roots {
		judge(fmt.Sprint(one.Size, " seals"), rootOf(leaves[:one.Size]) == one.Root, true)
	}
	for _, one := range v.Inclusion {
		judge(one.Name, tlog.CheckRecord(one.Path, one.Size, one.Root, one.Index, one.Leaf) == nil, one.Valid)
	}
	for _, one := range v.Consistency {
		judge(one.Name, tlog.CheckTree(one.Path, one.Size, one.Root, one.Old, one.OldRoot) == nil, one.Valid)
	}
	for _, one := range v.Checkpoints {
		tree, err := open(one.Note, v.Keys...)
		judge(one.Name, err == nil && tree.N == one.Size && tree.Hash == one.Root, one.Valid)
	}
	for _, one := range v.Headers {
		if one.Header != "" {
			_, err := open(noteOf(one.Header), v.Keys...)
			judge(one.Name, err == nil, one.Verdict != "forged")
		}
	}
	texts := map[string]string{}
	for _, one := range v.Proofs {
		text := texts[one.Of] + one.Text
		for _, edit := range one.Edits {
			text = strings.Replace(text, edit[0], edit[1], 1)
		}
		texts[one.Name] = text
		verdict, why := check([]byte(text), v.Keys)
		judge(fmt.Sprint(one.Name, ": ", why), verdict == one.Verdict, true)
	}
	if wrong == nil {
		fmt.Println(count, "vectors as published")
	}
	return wrong
}

// rootOf lets tlog build the tree: each record's hashes are stored behind those before it.
func rootOf(leaves []tlog.Hash) tlog.Hash {
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var found []tlog.Hash
		for _, index := range indexes {
			found = append(found, stored[index])
		}
		return found, nil
	})
	for number, leaf := range leaves {
		hashes, err := tlog.StoredHashesForRecordHash(int64(number), leaf, read)
		if err != nil {
			panic(err)
		}
		stored = append(stored, hashes...)
	}
	root, err := tlog.TreeHash(int64(len(leaves)), read)
	if err != nil {
		panic(err)
	}
	return root
}
