// Package play runs a command while a scripted model answers OpenAI's chat API to it on this machine.
//
// It never decides what is answered.
package play

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/benchmint/benchmint/internal/llm/llmtest"
)

// Command runs argv with the address of a model that answers, a key, and further variables. The error of a
// command that ends with another code than 0 is an *exec.ExitError.
func Command(answer func(llmtest.Asked) llmtest.Reply, argv []string, env ...string) error {
	server := llmtest.Start(answer)
	defer server.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+server.Base(), "OPENAI_API_BASE="+server.Base(), "OPENAI_API_KEY=played")
	cmd.Env = append(cmd.Env, env...)
	return cmd.Run()
}

// Main runs a program that is called with a dataset and a command, and ends the process.
func Main(name string, run func(dataset string, argv []string) error) {
	if len(os.Args) < 3 {
		fmt.Fprintf(os.Stderr, "usage: %s DATASET COMMAND [ARGUMENT…]\n", name)
		os.Exit(2)
	}
	err := run(os.Args[1], os.Args[2:])
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(max(exit.ExitCode(), 1)) // the command has said why
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Unknown is the answer to a question that is not of the script.
func Unknown(name string) llmtest.Reply {
	return llmtest.Reply{Status: 404, Body: `{"error":{"message":"` + name + ` plays no such model, or the task is not of its dataset"}}`}
}
