module std.invalid

go 1.13
