// The pieces that a parse puts together: tokens, and nodes of them.

// length is that of a piece of the text, or a place in it: what lies before.
typedef struct length {
  uint32_t bytes, rows;
} length;

static inline length length_add(length a, length b) { return (length){a.bytes + b.bytes, a.rows + b.rows}; }
static inline length length_sub(length a, length b) { return (length){a.bytes - b.bytes, a.rows - b.rows}; }

enum {
  COST_RECOVERY = 500,
  COST_MISSING_TREE = 110,
  COST_SKIPPED_TREE = 100,
  COST_SKIPPED_LINE = 30,
  COST_SKIPPED_CHAR = 1,
};

// scanner_state is what an external scanner wrote down after a token.
typedef struct {
  union {
    char *far;
    char near[24];
  };
  uint32_t length;
} scanner_state;

static const scanner_state no_scanner_state;

typedef struct {
  uint32_t references, child_count; // the children stand before it
  length padding, size;             // padding is what lies between the one before and this one
  uint32_t error_cost;
  symbol_id symbol;
  state_id state; // in which a token was read
  // With children:
  uint32_t visible_children, visible_descendants;
  int32_t dynamic_precedence;
  uint16_t production;
  uint16_t visible : 1, named : 1, extra : 1, missing : 1, keyword : 1;
  uint16_t external : 1, scanner_changed : 1; // of a token that an external scanner found: its state stands behind
} node;

_Static_assert(sizeof(node) % _Alignof(scanner_state) == 0, "a state can stand behind a node");

// subtree is a pointer to a node, or a small token itself where the lowest bit is set:
// bits 1 to 5 its flags, 8 to 15 its symbol, 16 to 31 its state, then 12 for the bytes of the
// padding, 4 for its rows, and 16 for the size in bytes.
typedef union {
  uint64_t bits;
  node *node;
} subtree;

enum { TOKEN = 1, TOKEN_VISIBLE = 2, TOKEN_NAMED = 4, TOKEN_EXTRA = 8, TOKEN_MISSING = 16, TOKEN_KEYWORD = 32 };

static const subtree no_subtree = {0};

typedef array(subtree) subtrees;

#define INLINE(s) ((s).bits & TOKEN)

static inline bool is_some(subtree s) { return s.bits != 0; }
static inline symbol_id symbol_of(subtree s) { return INLINE(s) ? (uint8_t)(s.bits >> 8) : s.node->symbol; }
static inline state_id state_of(subtree s) { return INLINE(s) ? (uint16_t)(s.bits >> 16) : s.node->state; }
static inline bool is_visible(subtree s) { return INLINE(s) ? s.bits & TOKEN_VISIBLE : s.node->visible; }
static inline bool is_named(subtree s) { return INLINE(s) ? s.bits & TOKEN_NAMED : s.node->named; }
static inline bool is_extra(subtree s) { return INLINE(s) ? s.bits & TOKEN_EXTRA : s.node->extra; }
static inline bool is_missing(subtree s) { return INLINE(s) ? s.bits & TOKEN_MISSING : s.node->missing; }
static inline bool is_keyword(subtree s) { return INLINE(s) ? s.bits & TOKEN_KEYWORD : s.node->keyword; }
static inline bool is_error(subtree s) { return symbol_of(s) == SYMBOL_ERROR; }
static inline bool is_external(subtree s) { return !INLINE(s) && s.node->external; }
static inline uint32_t child_count(subtree s) { return INLINE(s) ? 0 : s.node->child_count; }
static inline subtree *children_of(subtree s) { return INLINE(s) ? NULL : (subtree *)s.node - s.node->child_count; }

static inline length padding_of(subtree s) {
  if (!INLINE(s)) return s.node->padding;
  return (length){(s.bits >> 32) & 0xfff, (s.bits >> 44) & 15};
}

static inline length size_of(subtree s) {
  if (!INLINE(s)) return s.node->size;
  return (length){(uint32_t)(s.bits >> 48), 0};
}

static inline length total_of(subtree s) { return length_add(padding_of(s), size_of(s)); }

static inline uint32_t error_cost(subtree s) {
  if (is_missing(s)) return COST_MISSING_TREE + COST_RECOVERY;
  return INLINE(s) ? 0 : s.node->error_cost;
}

static inline uint32_t visible_children(subtree s) { return child_count(s) ? s.node->visible_children : 0; }
static inline uint32_t visible_descendants(subtree s) { return child_count(s) ? s.node->visible_descendants : 0; }
static inline int32_t dynamic_precedence(subtree s) { return child_count(s) ? s.node->dynamic_precedence : 0; }

// after is the scanner's state behind an external token.
static inline scanner_state *after(node *n) { return (scanner_state *)(n + 1); }

static inline const scanner_state *scanner_state_of(subtree s) {
  return is_some(s) && is_external(s) ? after(s.node) : &no_scanner_state;
}

static inline const char *scanner_bytes(const scanner_state *s) {
  return s->length > sizeof s->near ? s->far : s->near;
}

static inline bool same_bytes(const scanner_state *s, const char *bytes, uint32_t length) {
  return s->length == length && memcmp(scanner_bytes(s), bytes, length) == 0;
}

static inline bool same_scanner_state(subtree a, subtree b) {
  if (a.bits == b.bits) return true;
  const scanner_state *of = scanner_state_of(b);
  return same_bytes(scanner_state_of(a), scanner_bytes(of), of->length);
}

static void keep_bytes(scanner_state *s, const char *bytes, uint32_t length) {
  s->length = length;
  char *to = s->near;
  if (length > sizeof s->near) to = s->far = take(length);
  memcpy(to, bytes, length);
}

static inline subtree retain(subtree s) {
  if (!INLINE(s)) s.node->references++;
  return s;
}

// release gives back what nothing holds any more; going is room for its work.
static void release_node(subtrees *going, subtree s) {
  array_clear(going);
  array_push(going, s);
  while (going->size) {
    subtree at = array_pop(going);
    for (uint32_t i = 0; i < at.node->child_count; i++) {
      subtree child = children_of(at)[i];
      if (!INLINE(child) && --child.node->references == 0) array_push(going, child);
    }
    if (at.node->external && after(at.node)->length > sizeof after(at.node)->near) give(after(at.node)->far);
    give(children_of(at));
  }
}

static inline void release(subtrees *going, subtree s) {
  if (!INLINE(s) && --s.node->references == 0) release_node(going, s);
}

static void release_all(subtrees *going, subtrees *all) {
  for (uint32_t i = 0; i < all->size; i++) release(going, all->at[i]);
  array_delete(all);
}

// room_for is how many subtrees take the room of so many children and their node.
static inline uint32_t room_for(uint32_t children) { return children + (sizeof(node) + sizeof(subtree) - 1) / sizeof(subtree); }

static subtree new_token(const TSLanguage *language, symbol_id symbol, length padding, length size, state_id state, bool external, bool keyword) {
  symbol_kind kind = kind_of(language, symbol);
  bool extra = symbol == SYMBOL_END;
  if (symbol <= UINT8_MAX && !external && padding.bytes <= 0xfff && padding.rows < 16 && size.rows == 0 && size.bytes <= UINT16_MAX) {
    uint64_t flags = TOKEN | (kind.visible ? TOKEN_VISIBLE : 0) | (kind.named ? TOKEN_NAMED : 0) | (extra ? TOKEN_EXTRA : 0) | (keyword ? TOKEN_KEYWORD : 0);
    return (subtree){.bits = flags | (uint64_t)symbol << 8 | (uint64_t)state << 16 |
                             (uint64_t)padding.bytes << 32 | (uint64_t)padding.rows << 44 | (uint64_t)size.bytes << 48};
  }
  node *n = take(sizeof *n + (external ? sizeof(scanner_state) : 0));
  *n = (node){
    .references = 1, .padding = padding, .size = size, .symbol = symbol, .state = state,
    .visible = kind.visible, .named = kind.named, .extra = extra, .external = external, .keyword = keyword,
  };
  return (subtree){.node = n};
}

static subtree new_missing(const TSLanguage *language, symbol_id symbol) {
  subtree s = new_token(language, symbol, (length){0}, (length){0}, 0, false, false);
  if (INLINE(s)) s.bits |= TOKEN_MISSING;
  else s.node->missing = true;
  return s;
}

// summarize says of a node what follows from its children.
static void summarize(node *n, const TSLanguage *language) {
  const subtree *children = (subtree *)n - n->child_count;
  const symbol_id *aliases = alias_sequence(language, n->production);
  bool broken = n->symbol == SYMBOL_ERROR || n->symbol == SYMBOL_ERROR_REPEAT;
  uint32_t visible = 0, descendants = 0, cost = 0, place = 0;
  int32_t precedence = 0;
  for (uint32_t i = 0; i < n->child_count; i++) {
    subtree child = children[i];
    if (i == 0) {
      n->padding = padding_of(child);
      n->size = size_of(child);
    } else {
      n->size = length_add(n->size, total_of(child));
    }
    if (symbol_of(child) != SYMBOL_ERROR_REPEAT) cost += error_cost(child);
    uint32_t grandchildren = child_count(child);
    if (broken && !is_extra(child) && !(is_error(child) && !grandchildren)) {
      if (is_visible(child)) cost += COST_SKIPPED_TREE;
      else if (grandchildren) cost += COST_SKIPPED_TREE * child.node->visible_children;
    }
    precedence += dynamic_precedence(child);
    descendants += visible_descendants(child);
    bool alias = aliases && !is_extra(child) && aliases[place];
    if (alias || is_visible(child)) {
      descendants++;
      visible++;
    } else if (grandchildren) {
      visible += child.node->visible_children;
    }
    if (!is_extra(child)) place++;
  }
  if (broken) cost += COST_RECOVERY + COST_SKIPPED_CHAR * n->size.bytes + COST_SKIPPED_LINE * n->size.rows;
  n->visible_children = visible;
  n->visible_descendants = descendants;
  n->error_cost = cost;
  n->dynamic_precedence = precedence;
}

// new_node makes a node in the memory of its children, which is its own from then on.
static subtree new_node(const TSLanguage *language, symbol_id symbol, subtrees *children, uint16_t production) {
  symbol_kind kind = kind_of(language, symbol);
  array_reserve(children, room_for(children->size));
  node *n = (node *)(children->at + children->size);
  *n = (node){
    .references = 1, .symbol = symbol, .child_count = children->size, .production = production,
    .visible = kind.visible, .named = kind.named,
  };
  summarize(n, language);
  return (subtree){.node = n};
}

// own gives the subtree for writing: a copy where others hold it, too.
static subtree own(subtrees *going, subtree s) {
  if (INLINE(s) || s.node->references == 1) return s;
  uint32_t count = s.node->child_count;
  subtree *children = take(room_for(count) * sizeof *children + (s.node->external ? sizeof(scanner_state) : 0));
  memcpy(children, children_of(s), count * sizeof *children + sizeof(node));
  node *n = (node *)(children + count);
  for (uint32_t i = 0; i < count; i++) retain(children[i]);
  if (n->external) keep_bytes(after(n), scanner_bytes(after(s.node)), after(s.node)->length);
  n->references = 1;
  release(going, s);
  return (subtree){.node = n};
}

static subtree with_extra(subtree s, bool extra) {
  if (INLINE(s)) s.bits = extra ? s.bits | TOKEN_EXTRA : s.bits & ~(uint64_t)TOKEN_EXTRA;
  else s.node->extra = extra;
  return s;
}

static subtree with_symbol(subtree s, symbol_id symbol, const TSLanguage *language) {
  symbol_kind kind = kind_of(language, symbol);
  if (INLINE(s)) {
    s.bits &= ~(uint64_t)(TOKEN_VISIBLE | TOKEN_NAMED | 0xff00);
    s.bits |= (kind.visible ? TOKEN_VISIBLE : 0) | (kind.named ? TOKEN_NAMED : 0) | (uint64_t)symbol << 8;
  } else {
    s.node->symbol = symbol;
    s.node->visible = kind.visible;
    s.node->named = kind.named;
  }
  return s;
}

// compare orders two ways to read the same text: by their symbols, outer ones first.
static int compare(subtrees *room, subtree left, subtree right) {
  array_push(room, left);
  array_push(room, right);
  while (room->size) {
    right = array_pop(room);
    left = array_pop(room);
    uint32_t count = child_count(left);
    int order = 0;
    if (symbol_of(left) != symbol_of(right)) order = symbol_of(left) < symbol_of(right) ? -1 : 1;
    else if (count != child_count(right)) order = count < child_count(right) ? -1 : 1;
    if (order) {
      array_clear(room);
      return order;
    }
    for (uint32_t i = count; i > 0; i--) {
      array_push(room, children_of(left)[i - 1]);
      array_push(room, children_of(right)[i - 1]);
    }
  }
  return 0;
}
