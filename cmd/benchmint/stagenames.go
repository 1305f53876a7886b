package main

var stages = struct {
	Names                                     []string
	Crawl, Link, Resolve, Provision, Validate string
}{
	[]string{"crawl", "link", "resolve", "provision", "validate", "export"}, "crawl", "link", "resolve", "provision", "validate",
}
