// An arena is the memory of one parse at a time. A parse takes a piece of memory for each
// node, and gives many back: with the allocator of the C library that was an eighth of a
// parse, and on a thread that is not the first one its heap grows by a call of the kernel
// for every few pages. Here a piece costs a few instructions, and all of them are given
// back at once.

void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));

// A block comes from the C library; pieces are cut off it from the front.
typedef struct block {
  struct block *next;
  size_t size; // with this head
} block;

// A piece begins with its size class, so that it can be given back, and grow.
typedef struct {
  uint64_t class; // FOREIGN: of the C library
} piece;

// Pieces are of multiples of STEP bytes up to STEPS of them, and of powers of two above:
// class c < STEPS is (c + 1) * STEP bytes, class STEPS + n is (STEP * STEPS) << (n + 1).
enum { STEP = 16, STEPS = 64, CLASSES = STEPS + 32, FOREIGN = CLASSES };

// The first KEPT blocks outlive a parse and are filled in the same order by the next one:
// memory that was used before costs less than new memory. They are no large pages of the
// machine: to clear one of those takes as long as the 150 small ones of which a file of 30 kB
// has need. A piece of more than LARGE_PIECE has a block of its own.
enum { BLOCK = 2 << 20, KEPT = 2, LARGE_PIECE = BLOCK / 4 };

// What was looked up in the tables of a grammar, which are searched from their beginning:
// the value of a state and a symbol, at a place that follows from both. It outlives a
// parse, too.
enum { LOOKUPS = 4096 };

typedef struct {
  uint32_t key; // state and symbol
  uint16_t value;
} lookup;

typedef struct {
  const TSLanguage *of;
  lookup at[LOOKUPS];
} lookups;

struct arena {
  lookups known;
  block *first, *filled; // of the blocks in their order, and the one that is being filled
  block *own;            // of single pieces
  char *here, *end;
  void *given[CLASSES]; // back, of each class, each pointing to the next
};

// current is the one that this thread parses with. Memory that a scanner takes outside of
// a parse is the C library's.
static _Thread_local arena *current;

static size_t class_of(size_t size) {
  size += sizeof(piece);
  if (size <= STEP * STEPS) return (size + STEP - 1) / STEP - 1;
  return STEPS + 63 - (size_t)__builtin_clzll((size - 1) / (STEP * STEPS));
}

static size_t bytes_of(size_t class) {
  return class < STEPS ? (class + 1) * STEP : (size_t)(STEP * STEPS) << (class - STEPS + 1);
}

_Noreturn static void fail(size_t size) {
  fprintf(stderr, "no memory for %zu bytes of a syntax tree\n", size);
  abort();
}

static block *block_new(size_t size) {
  block *b = malloc(size);
  if (!b) fail(size);
  b->size = size;
  b->next = NULL;
  return b;
}

// fill makes b the block of which pieces are cut. The arena itself lies in the first one.
static void fill(arena *a, block *b) {
  a->filled = b;
  a->here = (char *)(b + 1) + (b == a->first ? sizeof *a : 0);
  a->end = (char *)b + b->size;
}

// more cuts a piece off another block.
static char *more(arena *a, size_t bytes) {
  if (bytes > LARGE_PIECE) { // what is left of the block before would be lost
    block *b = block_new(bytes + sizeof *b);
    b->next = a->own;
    a->own = b;
    return (char *)(b + 1);
  }
  if (!a->filled->next) a->filled->next = block_new(BLOCK);
  fill(a, a->filled->next);
  char *p = a->here;
  a->here += bytes;
  return p;
}

static void *take(size_t size) {
  arena *a = current;
  piece *p;
  if (!a) {
    p = malloc(sizeof *p + size);
    if (!p) fail(size);
    p->class = FOREIGN;
    return p + 1;
  }
  size_t class = class_of(size);
  if (a->given[class]) {
    void *back = a->given[class];
    a->given[class] = *(void **)back;
    return back;
  }
  size_t bytes = bytes_of(class);
  if ((size_t)(a->end - a->here) >= bytes) {
    p = (piece *)a->here;
    a->here += bytes;
  } else {
    p = (piece *)more(a, bytes);
  }
  p->class = class;
  return p + 1;
}

static void *take_clean(size_t count, size_t size) { return memset(take(count * size), 0, count * size); }

static void give(void *back) {
  if (!back) return;
  piece *p = (piece *)back - 1;
  if (p->class == FOREIGN) {
    free(p);
    return;
  }
  *(void **)back = current->given[p->class];
  current->given[p->class] = back;
}

static void *grow(void *old, size_t size) {
  if (!old) return take(size);
  piece *p = (piece *)old - 1;
  if (p->class == FOREIGN) {
    p = realloc(p, sizeof *p + size);
    if (!p) fail(size);
    return p + 1;
  }
  size_t room = bytes_of(p->class) - sizeof *p;
  if (size <= room) return old;
  void *larger = take(size);
  memcpy(larger, old, room);
  give(old);
  return larger;
}

// The scanners of the grammars take their memory by tree-sitter's functions. Before any of
// them runs: what was taken of one allocator cannot be given to another. And the C library is
// told what fits this use of it: a heap for each thread is calls of the kernel, for threads
// that take next to nothing; and by itself it puts larger and larger pieces on its heap, which
// then stays as large as a few large files made it.
__attribute__((constructor)) static void install(void) {
  ts_set_allocator(take, take_clean, grow, give);
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, LARGE_PIECE);
#endif
}

arena *arena_new(void) {
  block *first = block_new(BLOCK);
  arena *a = (arena *)(first + 1);
  memset(a, 0, sizeof *a);
  a->first = first;
  fill(a, first);
  return a;
}

static void drop(block *b) {
  for (block *next; b; b = next) {
    next = b->next;
    free(b);
  }
}

void arena_delete(arena *a) {
  drop(a->own);
  drop(a->first); // and a with it
}

void arena_clear(arena *a) {
  block *last = a->first;
  for (int kept = 1; last->next && kept < KEPT; kept++) last = last->next;
  drop(last->next);
  last->next = NULL;
  drop(a->own);
  a->own = NULL;
  fill(a, a->first);
  memset(a->given, 0, sizeof a->given);
}
