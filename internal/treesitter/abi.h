// The tables of a grammar, as tree-sitter's generator lays them out: version 14 of its
// interface, and 13, which has one field less at the end.
#include <stdbool.h>
#include <stdint.h>

typedef uint16_t symbol_id;
typedef uint16_t state_id;

enum { SYMBOL_END = 0, SYMBOL_ERROR = UINT16_MAX, SYMBOL_ERROR_REPEAT = UINT16_MAX - 1 };

// What a scanner may write down of its state, in bytes.
enum { SCANNER_BYTES = 1024 };

typedef struct {
  uint16_t field;
  uint8_t child; // its number among those that are not extras
  bool inherited;
} field_entry;

typedef struct {
  uint16_t index, length;
} field_slice;

typedef struct {
  bool visible, named, supertype;
} symbol_kind;

typedef struct TSLexer TSLexer;

struct TSLexer {
  int32_t lookahead;
  symbol_id result;
  void (*advance)(TSLexer *, bool skip);
  void (*mark_end)(TSLexer *);
  uint32_t (*get_column)(TSLexer *);
  bool (*is_at_included_range_start)(const TSLexer *);
  bool (*eof)(const TSLexer *);
};

enum { SHIFT, REDUCE, ACCEPT, RECOVER };

typedef union {
  struct {
    uint8_t type;
    state_id state;
    bool extra, repetition;
  } shift;
  struct {
    uint8_t type;
    uint8_t child_count;
    symbol_id symbol;
    int16_t dynamic_precedence;
    uint16_t production;
  } reduce;
  uint8_t type;
} parse_action;

typedef union {
  parse_action action;
  struct {
    uint8_t count;
    bool reusable;
  } head;
} action_entry;

typedef struct {
  uint16_t lex_state, external_lex_state;
} lex_mode;

struct TSLanguage {
  uint32_t version;
  uint32_t symbol_count, alias_count, token_count, external_token_count;
  uint32_t state_count, large_state_count, production_count, field_count;
  uint16_t longest_alias_sequence;
  const uint16_t *parse_table;
  const uint16_t *small_parse_table;
  const uint32_t *small_parse_table_map;
  const action_entry *parse_actions;
  const char *const *symbol_names;
  const char *const *field_names;
  const field_slice *field_slices;
  const field_entry *field_entries;
  const symbol_kind *symbol_kinds;
  const symbol_id *public_symbols;
  const uint16_t *alias_map;
  const symbol_id *alias_sequences;
  const lex_mode *lex_modes;
  bool (*lex)(TSLexer *, state_id);
  bool (*lex_keyword)(TSLexer *, state_id);
  symbol_id keyword_capture_token;
  struct {
    const bool *states;
    const symbol_id *symbols;
    void *(*create)(void);
    void (*destroy)(void *);
    bool (*scan)(void *, TSLexer *, const bool *valid);
    unsigned (*serialize)(void *, char *);
    void (*deserialize)(void *, const char *, unsigned);
  } scanner;
  const state_id *primary_states;
};

static const symbol_id *alias_sequence(const TSLanguage *of, uint32_t production) {
  return production ? &of->alias_sequences[production * of->longest_alias_sequence] : NULL;
}

static symbol_kind kind_of(const TSLanguage *of, symbol_id symbol) {
  if (symbol == SYMBOL_ERROR) return (symbol_kind){.visible = true, .named = true};
  if (symbol == SYMBOL_ERROR_REPEAT) return (symbol_kind){0};
  return of->symbol_kinds[symbol];
}

static symbol_id public_symbol(const TSLanguage *of, symbol_id symbol) {
  return symbol == SYMBOL_ERROR ? symbol : of->public_symbols[symbol];
}
