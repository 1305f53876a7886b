package syntax

import (
	"fmt"
	"strings"
	"testing"
)

// TestNesting: what nests deep takes no stack of ours, sound or broken.
func TestNesting(t *testing.T) {
	t.Parallel()
	const depth = 50_000
	for name, source := range map[string]string{
		"sound":  strings.Repeat("[", depth) + strings.Repeat("]", depth),
		"broken": strings.Repeat("[", depth),
	} {
		tree, err := ParseTree(JavaScript, []byte(source))
		if err != nil || tree.Broken() != (name == "broken") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "sound" && tree.Len() != depth+2 { // program and statement
			t.Errorf("%d nodes", tree.Len())
		}
	}
}

// TestScanners: grammars' scanners hold their state in few bytes and check it with assert,
// which would end the process. Each of these asks for more than they can hold.
func TestScanners(t *testing.T) {
	t.Parallel()
	nested := func(n int, around func(i int, in string) string) string {
		text := "1"
		for i := range n {
			text = around(i, text)
		}
		return text
	}
	long := strings.Repeat("a", 300)
	for name, c := range map[string]struct {
		language Language
		source   string
	}{
		"heredoc's name":            {PHP, "<?php $a = <<<" + long + "\nx {$b}\n" + long + ";\n"},
		"heredocs in heredocs":      {PHP, "<?php $a = " + nested(300, func(i int, in string) string { return fmt.Sprintf("<<<A%d\n{$b[%s]}\nA%[1]d", i, in) }) + ";\n"},
		"quotes":                    {CSharp, "class A { string b = $" + strings.Repeat(`"`, 301) + "x{1}y" + strings.Repeat(`"`, 301) + "; }\n"},
		"dollars":                   {CSharp, "class A { string b = " + strings.Repeat("$", 301) + `"""x` + strings.Repeat("{", 301) + "1" + strings.Repeat("}", 301) + `"""` + "; }\n"},
		"interpolations":            {CSharp, "class A { string b = " + nested(400, func(_ int, in string) string { return `$"{` + in + `}"` }) + "; }\n"},
		"formatted strings":         {Python, nested(400, func(_ int, in string) string { return "f'{" + in + "}'" }) + "\n"},
		"indents":                   {Python, nested(600, func(i int, in string) string { return "if a:\n" + strings.Repeat(" ", 600-i) + in }) + "\n"},
		"marks of a raw string":     {Rust, "fn a() { let b = r" + strings.Repeat("#", 300) + `"x"` + strings.Repeat("#", 300) + "; }"},
		"long heredocs in heredocs": {Ruby, nested(10, func(i int, in string) string { return fmt.Sprintf("<<%s%d\n#{%s\n}\n%[1]s%[2]d\n", long[:180], i, in) })},
		"many heredocs in heredocs": {Ruby, nested(300, func(i int, in string) string { return fmt.Sprintf("<<A%d\n#{%s\n}\nA%[1]d\n", i, in) })},
		"words in words":            {Ruby, "a = " + nested(300, func(_ int, in string) string { return `"#{` + in + `}"` })},
		"parentheses in a string":   {Ruby, "a = %(" + strings.Repeat("(", 300) + strings.Repeat(")", 300) + ")"},
	} {
		if _, err := ParseTree(c.language, []byte(c.source)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
