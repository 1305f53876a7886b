// Trees written down flat: what Go reads of a parse.
#include <stdbool.h>
#include <stdint.h>

typedef struct TSLanguage TSLanguage;
typedef struct arena arena;

arena *arena_new(void);
void arena_delete(arena *);

// arena_clear gives back all that was taken for a parse, its nodes with it.
void arena_clear(arena *);

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

enum { FLAT_TIME = 1, FLAT_LANGUAGE = 2, FLAT_SCANNER = 3 };

flat_tree flat_parse(arena *memory, const TSLanguage *language, const char *source, uint32_t length, uint64_t micros, const uint8_t *wanted, const uint8_t *opened);

uint32_t flat_symbols(const TSLanguage *);
uint32_t flat_fields(const TSLanguage *);
const char *flat_symbol(const TSLanguage *, uint32_t i);
const char *flat_field(const TSLanguage *, uint32_t i); // from 1
