// The parse itself: tree-sitter's generalized LR, with its recovery from errors.

enum { MOST_VERSIONS = 6, MOST_VERSIONS_OVERFLOW = 4, SUMMARY_DEPTH = 16, COST_DIFFERENCE = 16 * COST_SKIPPED_TREE };

// The clock is looked at each so many operations: that is a call of the kernel.
enum { OPERATIONS_PER_LOOK = 10000 };

typedef struct {
  uint32_t count;
  symbol_id symbol;
  int16_t dynamic_precedence;
  uint16_t production;
} reduction;

// actions are those for a state and a token.
typedef struct {
  const parse_action *at;
  uint32_t count;
  bool reusable;
} actions;

typedef struct {
  lexer lexer;
  stack stack;
  const TSLanguage *language;
  void *scanner;
  array(reduction) reductions;
  subtree finished;
  subtrees extras, other_extras, trial, going, comparing;
  struct { // the last token that was read
    subtree token, last_external;
    uint32_t at;
  } cache;
  uint32_t accepted, operations;
  uint64_t deadline; // of the processor time of this thread, in microseconds
  lookups *known;
} parser;

// processor_time is that of this thread in microseconds.
static uint64_t processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint16_t search(const TSLanguage *of, state_id state, symbol_id symbol) {
  if (state < of->large_state_count) return of->parse_table[state * of->symbol_count + symbol];
  const uint16_t *at = &of->small_parse_table[of->small_parse_table_map[state - of->large_state_count]];
  for (uint16_t groups = *at++; groups; groups--) {
    uint16_t value = *at++, symbols = *at++;
    for (; symbols; symbols--) {
      if (*at++ == symbol) return value;
    }
  }
  return 0;
}

// look_up gives the next state of a symbol that is no token, and the index of the actions
// of one that is.
static inline uint16_t look_up(parser *p, state_id state, symbol_id symbol) {
  uint32_t key = (uint32_t)state << 16 | symbol;
  lookup *l = &p->known->at[(key * 0x9e3779b1u) >> 20];
  if (l->key != key) *l = (lookup){key, search(p->language, state, symbol)};
  return l->value;
}

static inline actions actions_of(parser *p, state_id state, symbol_id symbol) {
  if (symbol == SYMBOL_ERROR || symbol == SYMBOL_ERROR_REPEAT) return (actions){0};
  const action_entry *entry = &p->language->parse_actions[look_up(p, state, symbol)];
  return (actions){(const parse_action *)(entry + 1), entry->head.count, entry->head.reusable};
}

static inline state_id next_state(parser *p, state_id state, symbol_id symbol) {
  if (symbol == SYMBOL_ERROR || symbol == SYMBOL_ERROR_REPEAT) return 0;
  if (symbol >= p->language->token_count) return look_up(p, state, symbol);
  actions all = actions_of(p, state, symbol);
  if (!all.count || all.at[all.count - 1].type != SHIFT) return 0;
  parse_action last = all.at[all.count - 1];
  return last.shift.extra ? state : last.shift.state;
}

// standing is what versions are compared by.
typedef struct {
  uint32_t cost, node_count;
  int32_t dynamic_precedence;
  bool in_error;
} standing;

typedef enum { TAKE_LEFT, KEEP_BOTH, PREFER_RIGHT, TAKE_RIGHT } choice;

static choice choose(standing a, standing b) {
  if (!a.in_error && b.in_error) return a.cost < b.cost ? TAKE_LEFT : KEEP_BOTH;
  if (a.in_error && !b.in_error) return b.cost < a.cost ? TAKE_RIGHT : PREFER_RIGHT;
  if (a.cost < b.cost) return (b.cost - a.cost) * (1 + a.node_count) > COST_DIFFERENCE ? TAKE_LEFT : KEEP_BOTH;
  if (b.cost < a.cost) return (a.cost - b.cost) * (1 + b.node_count) > COST_DIFFERENCE ? TAKE_RIGHT : PREFER_RIGHT;
  return b.dynamic_precedence > a.dynamic_precedence ? PREFER_RIGHT : KEEP_BOTH;
}

static standing standing_of(parser *p, uint32_t version) {
  bool paused = is_paused(&p->stack, version);
  return (standing){
    .cost = stack_error_cost(&p->stack, version) + (paused ? COST_SKIPPED_TREE : 0),
    .node_count = stack_nodes_since_error(&p->stack, version),
    .dynamic_precedence = p->stack.heads.at[version].node->dynamic_precedence,
    .in_error = paused || stack_state(&p->stack, version) == STATE_ERROR,
  };
}

static bool better_exists(parser *p, uint32_t version, uint32_t cost) {
  if (is_some(p->finished) && error_cost(p->finished) <= cost) return true;
  length position = stack_position(&p->stack, version);
  standing own = {
    .cost = cost,
    .node_count = stack_nodes_since_error(&p->stack, version),
    .dynamic_precedence = p->stack.heads.at[version].node->dynamic_precedence,
  };
  for (uint32_t i = 0; i < p->stack.heads.size; i++) {
    if (i == version || !is_active(&p->stack, i) || stack_position(&p->stack, i).bytes < position.bytes) continue;
    choice c = choose(own, standing_of(p, i));
    if (c == TAKE_RIGHT || (c == PREFER_RIGHT && can_merge(&p->stack, i, version))) return true;
  }
  return false;
}

// can_reuse tells whether a token that was read in one state is what would be read in
// another.
static bool can_reuse(parser *p, state_id state, subtree token, const actions *then) {
  lex_mode now = p->language->lex_modes[state], before = p->language->lex_modes[state_of(token)];
  if (now.lex_state == UINT16_MAX) return false;
  if (then->count > 0 && now.lex_state == before.lex_state && now.external_lex_state == before.external_lex_state &&
      (symbol_of(token) != p->language->keyword_capture_token || (!is_keyword(token) && state_of(token) == state)))
    return true;
  if (size_of(token).bytes == 0 && symbol_of(token) != SYMBOL_END) return false;
  return now.external_lex_state == 0 && then->reusable;
}

// scan asks the external scanner of the grammar for a token.
static bool scan(parser *p, uint32_t version, subtree external, uint16_t mode, bool in_error, uint32_t *written, bool *changed) {
  const TSLanguage *of = p->language;
  uint32_t position = p->lexer.at;
  lexer_start(&p->lexer);
  const scanner_state *state = is_some(external) ? scanner_state_of(external) : NULL;
  of->scanner.deserialize(p->scanner, state ? scanner_bytes(state) : NULL, state ? state->length : 0);
  bool found = of->scanner.scan(p->scanner, &p->lexer.data, of->scanner.states + of->external_token_count * mode);
  lexer_finish(&p->lexer);
  if (!found) return false;
  *written = of->scanner.serialize(p->scanner, p->lexer.state);
  *changed = !same_bytes(scanner_state_of(external), p->lexer.state, *written);
  // What takes no text and changes nothing would be found again and again after an error.
  return p->lexer.token_end > position || *changed ||
         !(in_error || !stack_has_advanced_since_error(&p->stack, version));
}

// read_token gives the next token for a state; none at the end of an extra that is made of
// several tokens.
static subtree read_token(parser *p, uint32_t version, state_id state) {
  const TSLanguage *of = p->language;
  lexer *l = &p->lexer;
  lex_mode mode = of->lex_modes[state];
  if (mode.lex_state == UINT16_MAX) return no_subtree;
  const length start = stack_position(&p->stack, version);
  const subtree external = p->stack.heads.at[version].last_external;
  bool from_scanner = false, in_error = state == STATE_ERROR, skipped = false, changed = false;
  length error_start = {0}, error_end = {0};
  uint32_t written = 0;
  lexer_go(l, start);
  for (;;) {
    length position = lexer_position(l);
    if (mode.external_lex_state) {
      from_scanner = scan(p, version, external, mode.external_lex_state, in_error, &written, &changed);
      if (from_scanner) break;
      lexer_go(l, position);
    }
    lexer_start(l);
    bool found = of->lex(&l->data, mode.lex_state);
    lexer_finish(l);
    if (found) break;
    if (!in_error) {
      in_error = true;
      mode = of->lex_modes[STATE_ERROR];
      lexer_go(l, start);
      continue;
    }
    if (!skipped) {
      skipped = true;
      error_start = error_end = lexer_token_start(l);
    }
    if (l->at == error_end.bytes) {
      if (l->ended) {
        l->data.result = SYMBOL_ERROR;
        break;
      }
      lexer_advance(&l->data, false);
    }
    error_end = lexer_position(l);
  }
  if (skipped) return new_token(of, SYMBOL_ERROR, length_sub(error_start, start), length_sub(error_end, error_start), state, false, false);
  symbol_id symbol = l->data.result;
  bool keyword = false;
  length padding = length_sub(lexer_token_start(l), start), size = length_sub(lexer_token_end(l), lexer_token_start(l));
  if (from_scanner) {
    symbol = of->scanner.symbols[symbol];
  } else if (symbol == of->keyword_capture_token && symbol != 0) {
    uint32_t end = l->token_end;
    lexer_go(l, lexer_token_start(l));
    lexer_start(l);
    keyword = of->lex_keyword(&l->data, 0);
    if (keyword && l->token_end == end && look_up(p, state, l->data.result)) symbol = l->data.result;
  }
  subtree token = new_token(of, symbol, padding, size, state, from_scanner, keyword);
  if (from_scanner) {
    keep_bytes(after(token.node), l->state, written);
    token.node->scanner_changed = changed;
  }
  return token;
}

static void cache_token(parser *p, uint32_t at, subtree last_external, subtree token) {
  retain(token);
  if (is_some(last_external)) retain(last_external);
  if (is_some(p->cache.token)) release(&p->going, p->cache.token);
  if (is_some(p->cache.last_external)) release(&p->going, p->cache.last_external);
  p->cache.token = token;
  p->cache.last_external = last_external;
  p->cache.at = at;
}

// is_worse tells whether the right one of two trees takes the left one's place: by the cost
// of its errors, its precedence, and its symbols.
static bool is_worse(parser *p, subtree left, subtree right) {
  if (!is_some(left)) return true;
  if (!is_some(right)) return false;
  if (error_cost(left) != error_cost(right)) return error_cost(right) < error_cost(left);
  if (dynamic_precedence(left) != dynamic_precedence(right)) return dynamic_precedence(right) > dynamic_precedence(left);
  return error_cost(left) > 0 || compare(&p->comparing, left, right) == 1;
}

// is_worse_than_node asks it of a node of other children, which is made to be compared only.
static bool is_worse_than_node(parser *p, subtree left, const subtrees *children) {
  array_reserve(&p->trial, room_for(children->size));
  memcpy(p->trial.at, children->at, children->size * sizeof *children->at);
  p->trial.size = children->size;
  return is_worse(p, left, new_node(p->language, symbol_of(left), &p->trial, 0));
}

static void split_extras(subtrees *from, subtrees *extras) {
  array_clear(extras);
  uint32_t keep = from->size;
  while (keep > 0 && is_extra(from->at[keep - 1])) keep--;
  for (uint32_t i = keep; i < from->size; i++) array_push(extras, from->at[i]);
  from->size = keep;
}

static void push_node(parser *p, uint32_t version, subtree made, int32_t precedence, bool ends_extra) {
  state_id state = stack_state(&p->stack, version);
  state_id next = next_state(p, state, symbol_of(made));
  if (ends_extra && next == state) made.node->extra = true;
  made.node->dynamic_precedence += precedence;
  stack_push(&p->stack, version, made, next);
  for (uint32_t i = 0; i < p->extras.size; i++) stack_push(&p->stack, version, p->extras.at[i], next);
}

// reduce makes a node of what lies on top of a version, for each way down; it gives the
// first version that it made.
static uint32_t reduce(parser *p, uint32_t version, reduction r, bool ends_extra) {
  stack *s = &p->stack;
  uint32_t before = s->heads.size, removed = 0;
  all_popped all = stack_pop(s, version, r.count);
  for (uint32_t i = 0; i < all.size; i++) {
    popped one = all.at[i];
    uint32_t made = one.version - removed;
    if (made > MOST_VERSIONS + MOST_VERSIONS_OVERFLOW) {
      stack_remove(s, made);
      release_all(&p->going, &one.subtrees);
      removed++;
      for (; i + 1 < all.size && all.at[i + 1].version == one.version; i++) release_all(&p->going, &all.at[i + 1].subtrees);
      continue;
    }
    subtrees children = one.subtrees;
    split_extras(&children, &p->extras);
    subtree parent = new_node(p->language, r.symbol, &children, r.production);
    // Several ways down may end in one node: one of them is kept.
    for (; i + 1 < all.size && all.at[i + 1].version == one.version; i++) {
      subtrees others = all.at[i + 1].subtrees;
      split_extras(&others, &p->other_extras);
      if (is_worse_than_node(p, parent, &others)) {
        for (uint32_t j = 0; j < p->extras.size; j++) release(&p->going, p->extras.at[j]);
        release(&p->going, parent);
        subtrees swap = p->extras;
        p->extras = p->other_extras;
        p->other_extras = swap;
        parent = new_node(p->language, r.symbol, &others, r.production);
      } else {
        array_clear(&p->other_extras);
        release_all(&p->going, &all.at[i + 1].subtrees);
      }
    }
    push_node(p, made, parent, r.dynamic_precedence, ends_extra);
    for (uint32_t j = 0; j < made; j++) {
      if (j == version) continue;
      if (stack_merge(s, j, made)) {
        removed++;
        break;
      }
    }
  }
  return s->heads.size > before ? before : NO_VERSION;
}

// reduce_only is reduce in place, where there is one version and one way down.
static bool reduce_only(parser *p, reduction r, bool ends_extra) {
  subtrees children;
  if (p->stack.heads.size != 1 || !stack_pop_only(&p->stack, r.count, &children)) return false;
  split_extras(&children, &p->extras);
  push_node(p, 0, new_node(p->language, r.symbol, &children, r.production), r.dynamic_precedence, ends_extra);
  return true;
}

static reduction reduction_of(parse_action a) {
  return (reduction){a.reduce.child_count, a.reduce.symbol, a.reduce.dynamic_precedence, a.reduce.production};
}

static void accept(parser *p, uint32_t version, subtree lookahead) {
  stack_push(&p->stack, version, lookahead, STATE_START);
  all_popped all = stack_pop_all(&p->stack, version);
  for (uint32_t i = 0; i < all.size; i++) {
    subtrees trees = all.at[i].subtrees;
    subtree root = no_subtree;
    for (uint32_t j = trees.size; j > 0; j--) {
      subtree tree = trees.at[j - 1];
      if (is_extra(tree)) continue;
      // Its children take its place among the extras around it.
      uint32_t count = child_count(tree);
      for (uint32_t k = 0; k < count; k++) retain(children_of(tree)[k]);
      array_erase(&trees, j - 1);
      if (count) array_insert(&trees, j - 1, count, children_of(tree));
      root = new_node(p->language, symbol_of(tree), &trees, tree.node->production);
      release(&p->going, tree);
      break;
    }
    p->accepted++;
    if (is_worse(p, p->finished, root)) {
      if (is_some(p->finished)) release(&p->going, p->finished);
      p->finished = root;
    } else {
      release(&p->going, root);
    }
  }
  stack_remove(&p->stack, all.at[0].version);
  p->stack.heads.at[version].status = HALTED;
}

static void add_reduction(parser *p, reduction r) {
  for (uint32_t i = 0; i < p->reductions.size; i++) {
    if (p->reductions.at[i].symbol == r.symbol && p->reductions.at[i].count == r.count) return;
  }
  array_push(&p->reductions, r);
}

// reduce_all does all reductions that a version allows, before one token or (0) before any,
// and tells whether the token could be shifted then.
static bool reduce_all(parser *p, uint32_t start, symbol_id lookahead) {
  stack *s = &p->stack;
  uint32_t before = s->heads.size, version = start;
  bool can_shift = false;
  for (uint32_t i = 0;; i++) {
    uint32_t count = s->heads.size;
    if (version >= count) return can_shift;
    bool merged = false;
    for (uint32_t j = before; j < version && !merged; j++) merged = stack_merge(s, j, version);
    if (merged) continue;
    state_id state = stack_state(s, version);
    bool shifts = false;
    array_clear(&p->reductions);
    symbol_id first = lookahead ? lookahead : 1, end = lookahead ? lookahead + 1 : (symbol_id)p->language->token_count;
    for (symbol_id symbol = first; symbol < end; symbol++) {
      actions all = actions_of(p, state, symbol);
      for (uint32_t j = 0; j < all.count; j++) {
        parse_action a = all.at[j];
        if ((a.type == SHIFT || a.type == RECOVER) && !a.shift.extra && !a.shift.repetition) shifts = true;
        if (a.type == REDUCE && a.reduce.child_count > 0) add_reduction(p, reduction_of(a));
      }
    }
    uint32_t made = NO_VERSION;
    for (uint32_t j = 0; j < p->reductions.size; j++) made = reduce(p, version, p->reductions.at[j], false);
    if (shifts) {
      can_shift = true;
    } else if (made != NO_VERSION && i < MOST_VERSIONS) {
      stack_renumber(s, made, version);
      continue;
    } else if (lookahead) {
      stack_remove(s, version);
    }
    version = version == start ? count : version + 1;
  }
}

// recover_to goes back to a state at a depth below, with an error of what lay above it.
static bool recover_to(parser *p, uint32_t version, uint32_t depth, state_id goal) {
  stack *s = &p->stack;
  all_popped all = stack_pop(s, version, depth);
  uint32_t previous = NO_VERSION;
  for (uint32_t i = 0; i < all.size; i++) {
    popped one = all.at[i];
    if (one.version == previous || stack_state(s, one.version) != goal) {
      if (one.version != previous) s->heads.at[one.version].status = HALTED;
      release_all(&p->going, &one.subtrees);
      array_erase(&all, i);
      i--;
      continue;
    }
    subtrees errors = stack_pop_error(s, one.version);
    if (errors.size > 0) {
      subtree error = errors.at[0];
      uint32_t count = child_count(error);
      if (count) array_insert(&one.subtrees, 0, count, children_of(error));
      for (uint32_t j = 0; j < count; j++) retain(one.subtrees.at[j]);
      release_all(&p->going, &errors);
    }
    split_extras(&one.subtrees, &p->extras);
    if (one.subtrees.size > 0) {
      subtree error = new_node(p->language, SYMBOL_ERROR, &one.subtrees, 0);
      error.node->extra = true;
      stack_push(s, one.version, error, goal);
    } else {
      array_delete(&one.subtrees);
    }
    for (uint32_t j = 0; j < p->extras.size; j++) stack_push(s, one.version, p->extras.at[j], goal);
    previous = one.version;
  }
  return previous != NO_VERSION;
}

// recover goes on after an error in two ways: back in a state further below in which the
// token is valid, and with the token skipped.
static void recover(parser *p, uint32_t version, subtree lookahead) {
  stack *s = &p->stack;
  const TSLanguage *of = p->language;
  bool recovered = false;
  uint32_t before = s->heads.size;
  length position = stack_position(s, version);
  summary *all = s->heads.at[version].summary;
  uint32_t since = stack_nodes_since_error(s, version), cost = stack_error_cost(s, version);
  for (uint32_t i = 0; all && !is_error(lookahead) && i < all->size; i++) {
    below at = all->at[i];
    if (at.state == STATE_ERROR || at.position.bytes == position.bytes) continue;
    bool known = false;
    for (uint32_t j = 0; j < before && !known; j++) {
      known = stack_state(s, j) == at.state && stack_position(s, j).bytes == position.bytes;
    }
    if (known) continue;
    uint32_t then = cost + at.depth * COST_SKIPPED_TREE + (position.bytes - at.position.bytes) * COST_SKIPPED_CHAR +
                    (position.rows - at.position.rows) * COST_SKIPPED_LINE;
    if (better_exists(p, version, then)) break;
    if (look_up(p, at.state, symbol_of(lookahead)) && recover_to(p, version, at.depth + (since > 0), at.state)) {
      recovered = true;
      break;
    }
  }
  for (uint32_t i = before; i < s->heads.size; i++) {
    if (!is_active(s, i)) stack_remove(s, i--);
  }
  if (recovered && (s->heads.size > MOST_VERSIONS || (is_external(lookahead) && lookahead.node->scanner_changed))) {
    s->heads.at[version].status = HALTED;
    release(&p->going, lookahead);
    return;
  }
  if (symbol_of(lookahead) == SYMBOL_END) {
    subtrees none = {0};
    stack_push(s, version, new_node(of, SYMBOL_ERROR, &none, 0), STATE_START);
    accept(p, version, lookahead);
    return;
  }
  length skipped = total_of(lookahead);
  uint32_t then = cost + COST_SKIPPED_TREE + skipped.bytes * COST_SKIPPED_CHAR + skipped.rows * COST_SKIPPED_LINE;
  if (better_exists(p, version, then)) {
    s->heads.at[version].status = HALTED;
    release(&p->going, lookahead);
    return;
  }
  actions first = actions_of(p, STATE_START, symbol_of(lookahead));
  if (first.count && first.at[first.count - 1].type == SHIFT && first.at[first.count - 1].shift.extra) {
    lookahead = with_extra(own(&p->going, lookahead), true);
  }
  subtrees children = {0};
  array_reserve(&children, room_for(1));
  array_push(&children, lookahead);
  subtree error = new_node(of, SYMBOL_ERROR_REPEAT, &children, 0);
  if (since > 0) { // an error lies on top: one for both
    all_popped pop = stack_pop(s, version, 1);
    for (uint32_t i = 1; i < pop.size; i++) release_all(&p->going, &pop.at[i].subtrees);
    if (pop.size > 1) {
      while (s->heads.size > pop.at[0].version + 1) stack_remove(s, pop.at[0].version + 1);
    }
    stack_renumber(s, pop.at[0].version, version);
    array_push(&pop.at[0].subtrees, error);
    error = new_node(of, SYMBOL_ERROR_REPEAT, &pop.at[0].subtrees, 0);
  }
  stack_push(s, version, error, STATE_ERROR);
  if (is_external(lookahead)) stack_set_last_external(s, version, lookahead);
}

// insert_missing tries to go on with a token that is not there.
static bool insert_missing(parser *p, uint32_t version, subtree lookahead) {
  stack *s = &p->stack;
  state_id state = stack_state(s, version);
  for (symbol_id missing = 1; missing < (symbol_id)p->language->token_count; missing++) {
    state_id then = next_state(p, state, missing);
    if (then == 0 || then == state) continue;
    actions all = actions_of(p, then, symbol_of(lookahead));
    if (!all.count || all.at[0].type != REDUCE) continue;
    uint32_t with = stack_copy(s, version);
    stack_push(s, with, new_missing(p->language, missing), then);
    if (reduce_all(p, with, symbol_of(lookahead))) return true;
  }
  return false;
}

static void handle_error(parser *p, uint32_t version, subtree lookahead) {
  stack *s = &p->stack;
  uint32_t before = s->heads.size;
  reduce_all(p, version, 0);
  uint32_t count = s->heads.size;
  bool inserted = false;
  for (uint32_t v = version; v < count;) {
    if (!inserted) inserted = insert_missing(p, v, lookahead);
    stack_push(s, v, no_subtree, STATE_ERROR);
    v = v == version ? before : v + 1;
  }
  for (uint32_t i = before; i < count; i++) stack_merge(s, version, before);
  stack_sum_up(s, version, SUMMARY_DEPTH);
  recover(p, version, lookahead);
}

static void shift(parser *p, uint32_t version, state_id next, subtree token, bool extra) {
  if (extra != is_extra(token)) token = with_extra(own(&p->going, token), extra);
  stack_push(&p->stack, version, token, next);
  if (is_external(token)) stack_set_last_external(&p->stack, version, token);
}

// in_time looks at the clock now and then.
static bool in_time(parser *p) {
  if (++p->operations < OPERATIONS_PER_LOOK) return true;
  p->operations = 0;
  return processor_time() <= p->deadline;
}

// advance goes on with a version until a token is shifted; false where the time is over.
static bool advance(parser *p, uint32_t version) {
  stack *s = &p->stack;
  state_id state = stack_state(s, version);
  uint32_t position = stack_position(s, version).bytes;
  subtree last_external = s->heads.at[version].last_external, lookahead = no_subtree;
  actions then = {0};
  if (is_some(p->cache.token) && p->cache.at == position && same_scanner_state(p->cache.last_external, last_external)) {
    then = actions_of(p, state, symbol_of(p->cache.token));
    if (can_reuse(p, state, p->cache.token, &then)) lookahead = retain(p->cache.token);
  }
  bool read = !is_some(lookahead);
  for (;;) {
    if (read) {
      read = false;
      lookahead = read_token(p, version, state);
      if (is_some(lookahead)) cache_token(p, position, last_external, lookahead);
      // No token ends an extra of several ones: its reduction stands where the end's would.
      then = actions_of(p, state, is_some(lookahead) ? symbol_of(lookahead) : SYMBOL_END);
    }
    if (!in_time(p)) return false;
    uint32_t reduced = NO_VERSION;
    for (uint32_t i = 0; i < then.count; i++) {
      parse_action a = then.at[i];
      switch (a.type) {
      case SHIFT:
        if (a.shift.repetition) break;
        shift(p, version, a.shift.extra ? state : a.shift.state, lookahead, a.shift.extra);
        return true;
      case REDUCE:
        if (then.count == 1 && reduce_only(p, reduction_of(a), !is_some(lookahead))) {
          reduced = version;
        } else {
          uint32_t made = reduce(p, version, reduction_of(a), !is_some(lookahead));
          if (made != NO_VERSION) reduced = made;
        }
        break;
      case ACCEPT:
        accept(p, version, lookahead);
        return true;
      case RECOVER:
        recover(p, version, lookahead);
        return true;
      }
    }
    if (reduced != NO_VERSION) {
      stack_renumber(s, reduced, version);
      state = stack_state(s, version);
      if (is_some(lookahead)) then = actions_of(p, state, symbol_of(lookahead));
      else read = true;
      continue;
    }
    if (!is_some(lookahead)) { // the extra became part of another version
      s->heads.at[version].status = HALTED;
      return true;
    }
    symbol_id word = p->language->keyword_capture_token;
    if (is_keyword(lookahead) && symbol_of(lookahead) != word) {
      then = actions_of(p, state, word);
      if (then.count > 0) {
        lookahead = with_symbol(own(&p->going, lookahead), word, p->language);
        continue;
      }
    }
    if (state == STATE_ERROR) recover(p, version, lookahead);
    else stack_pause(s, version, lookahead);
    return true;
  }
}

// condense orders the versions, best first, drops those that are clearly worse than
// another, and goes on after an error where nothing else is left. It gives the least cost.
static uint32_t condense(parser *p) {
  stack *s = &p->stack;
  uint32_t least = UINT32_MAX;
  for (uint32_t i = 0; i < s->heads.size; i++) {
    if (s->heads.at[i].status == HALTED) {
      stack_remove(s, i--);
      continue;
    }
    standing own = standing_of(p, i);
    if (!own.in_error && own.cost < least) least = own.cost;
    for (uint32_t j = 0; j < i; j++) {
      choice c = choose(standing_of(p, j), own);
      if (c == TAKE_RIGHT) {
        stack_remove(s, j);
        i--;
        j--;
      } else if (c == TAKE_LEFT || stack_merge(s, j, i)) {
        if (c == TAKE_LEFT) stack_remove(s, i);
        j = --i;
      } else if (c == PREFER_RIGHT) {
        stack_swap(s, i, j);
      }
    }
  }
  while (s->heads.size > MOST_VERSIONS) stack_remove(s, MOST_VERSIONS);
  bool going = false;
  for (uint32_t i = 0, count = s->heads.size; i < count; i++) {
    if (!is_paused(s, i)) {
      going = true;
    } else if (!going && p->accepted < MOST_VERSIONS) {
      least = stack_error_cost(s, i);
      handle_error(p, i, stack_resume(s, i));
      going = true;
    } else {
      stack_remove(s, i--);
      count--;
    }
  }
  return least;
}

// parse gives the tree of the source; none where the time is over.
static subtree parse(parser *p) {
  uint32_t last = 0, count;
  do {
    for (uint32_t version = 0; count = p->stack.heads.size, version < count; version++) {
      while (is_active(&p->stack, version)) {
        if (!advance(p, version)) return no_subtree;
        uint32_t position = stack_position(&p->stack, version).bytes;
        if (position > last || (version > 0 && position == last)) {
          last = position;
          break;
        }
      }
    }
    uint32_t least = condense(p);
    if (is_some(p->finished) && error_cost(p->finished) < least) break;
  } while (count != 0);
  return p->finished;
}
