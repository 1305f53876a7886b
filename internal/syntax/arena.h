#pragma once

// An arena is the memory of one parse at a time. tree-sitter asks for a piece of memory
// for each node, and gives each back: with the allocator of the C library that was an
// eighth of a parse, and on a thread that is not the first one its heap grows by a call
// of the kernel for every few pages. Here a piece costs a few instructions, and all of
// them are given back at once.
typedef struct arena arena;

arena *arena_new(void);
void arena_delete(arena *);

// arena_enter makes a the one of which this thread's tree-sitter takes its memory, until
// arena_leave, after which nothing that was taken of it may be used. Memory that
// tree-sitter takes outside of them is the C library's.
void arena_enter(arena *a);
void arena_leave(arena *a);
