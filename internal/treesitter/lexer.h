// The text as lexers see it: one character after the other.

typedef struct {
  TSLexer data; // first: it is what the lexers of grammars are given
  const uint8_t *source;
  uint32_t source_length;
  // Most steps move bytes only. Bytes and rows lie apart: a compiler would copy a pair at
  // once, and a processor cannot read at once what was just written in part.
  uint32_t at, token_start, token_end; // bytes
  uint32_t lookahead_size;             // bytes; 0 where it is not read yet
  bool ended;                          // it is behind the text
  bool token_ended;
  uint32_t at_row, start_row, end_row;
  char state[SCANNER_BYTES + 8]; // what an external scanner writes down; one counts four bytes as two
} lexer;

enum { BYTE_ORDER_MARK = 0xfeff, NO_CHARACTER = -1 };

// decode gives the character of more than one byte at s, of which length bytes are there,
// and its size; NO_CHARACTER and 1 for what is none (Unicode, section 3.9, table 3-7).
static uint32_t decode(const uint8_t *s, uint32_t length, int32_t *character) {
  uint32_t first = *s, more, low = 0x80, high = 0xbf;
  *character = NO_CHARACTER;
  if (first >= 0xc2 && first <= 0xdf) {
    more = 1;
    first &= 0x1f;
  } else if (first >= 0xe0 && first <= 0xef) {
    more = 2;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
    first &= 0xf;
  } else if (first >= 0xf0 && first <= 0xf4) {
    more = 3;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
    first &= 7;
  } else {
    return 1;
  }
  if (more >= length) return 1;
  for (uint32_t i = 1; i <= more; i++) {
    if (s[i] < low || s[i] > high) return 1;
    first = first << 6 | (s[i] & 0x3f);
    low = 0x80;
    high = 0xbf;
  }
  *character = (int32_t)first;
  return more + 1;
}

static inline length lexer_position(const lexer *l) { return (length){l->at, l->at_row}; }
static inline length lexer_token_start(const lexer *l) { return (length){l->token_start, l->start_row}; }
static inline length lexer_token_end(const lexer *l) { return (length){l->token_end, l->end_row}; }

static inline void lexer_look(lexer *l) {
  const uint8_t *at = l->source + l->at;
  if (*at < 0x80) {
    l->data.lookahead = *at;
    l->lookahead_size = 1;
  } else {
    l->lookahead_size = decode(at, l->source_length - l->at, &l->data.lookahead);
  }
}

static inline void lexer_end(lexer *l) {
  l->ended = true;
  l->data.lookahead = 0;
  l->lookahead_size = 1;
}

static bool lexer_eof(const TSLexer *data) { return ((const lexer *)data)->ended; }

static void lexer_advance(TSLexer *data, bool skip) {
  lexer *l = (lexer *)data;
  if (l->ended) return;
  l->at += l->lookahead_size;
  if (data->lookahead == '\n') l->at_row++;
  if (skip) {
    l->token_start = l->at;
    l->start_row = l->at_row;
  }
  if (l->at < l->source_length) lexer_look(l);
  else lexer_end(l);
}

static void lexer_mark_end(TSLexer *data) {
  lexer *l = (lexer *)data;
  l->token_end = l->at;
  l->end_row = l->at_row;
  l->token_ended = true;
}

// lexer_column is the number of characters since the line's beginning. No grammar of these
// asks for it, so it is counted when one does.
static uint32_t lexer_column(TSLexer *data) {
  const lexer *l = (const lexer *)data;
  uint32_t from = l->at, column = 0;
  if (l->ended) return 0;
  while (from > 0 && l->source[from - 1] != '\n') from--;
  for (int32_t character; from < l->at; column++) from += decode(l->source + from, l->source_length - from, &character);
  return column;
}

static bool lexer_at_start(const TSLexer *data) {
  const lexer *l = (const lexer *)data;
  return !l->ended && l->at == 0;
}

static void lexer_init(lexer *l, const uint8_t *source, uint32_t length) {
  l->data.advance = lexer_advance;
  l->data.mark_end = lexer_mark_end;
  l->data.get_column = lexer_column;
  l->data.is_at_included_range_start = lexer_at_start;
  l->data.eof = lexer_eof;
  l->source = source;
  l->source_length = length;
}

static inline void lexer_go(lexer *l, length to) {
  if (to.bytes == l->at) return;
  l->at = to.bytes;
  l->at_row = to.rows;
  l->ended = false;
  l->lookahead_size = 0;
  l->data.lookahead = 0;
}

static inline void lexer_start(lexer *l) {
  l->token_start = l->at;
  l->start_row = l->at_row;
  l->token_end = 0;
  l->token_ended = false;
  l->data.result = 0;
  if (l->ended) return;
  if (l->at >= l->source_length) lexer_end(l);
  else if (!l->lookahead_size) lexer_look(l);
  if (l->at == 0 && l->data.lookahead == BYTE_ORDER_MARK) lexer_advance(&l->data, true);
}

static inline void lexer_finish(lexer *l) {
  if (!l->token_ended) lexer_mark_end(&l->data);
  if (l->token_end < l->token_start) {
    l->token_start = l->token_end;
    l->start_row = l->end_row;
  }
}
