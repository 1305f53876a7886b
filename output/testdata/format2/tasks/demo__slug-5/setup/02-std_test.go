package std

import (
	_ "fmt"
	_ "os"
	_ "strings"
	_ "testing"
)
