// What of tree-sitter's C interface is needed to write a tree down flat. The
// functions themselves are linked from github.com/smacker/go-tree-sitter, whose Go
// side would cross the border between the languages once for each node.
#include "arena.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct { uint32_t row, column; } TSPoint;
typedef struct { uint32_t context[4]; const void *id; const TSTree *tree; } TSNode;
typedef struct { const void *tree; const void *id; uint32_t context[3]; } TSTreeCursor;

// flat_node is one node; nodes stand in preorder, so that the first child of node i is
// i+1 and its next sibling is last.
typedef struct {
  uint32_t start, end; // bytes
  uint32_t row;        // of start, from 0
  uint32_t last;       // index after the last node below this one
  uint32_t parent;     // index; of the root 0
  uint16_t symbol;
  uint16_t field;
  uint32_t flags;
} flat_node;

enum { FLAT_NAMED = 1, FLAT_ERROR = 2, FLAT_MISSING = 4, FLAT_BROKEN = 8, FLAT_EXTRA = 16 };

typedef struct {
  flat_node *nodes;
  uint32_t count, capacity;
  int fault; // 0, or one of FLAT_…
} flat_tree;

enum { FLAT_TIME = 1, FLAT_MEMORY = 2, FLAT_LANGUAGE = 3 };

flat_tree flat_parse(arena *memory, const TSLanguage *language, const char *source, uint32_t length, uint64_t micros, uint64_t slice, const uint8_t *wanted, const uint8_t *opened);
