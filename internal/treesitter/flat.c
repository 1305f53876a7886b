#include "flat.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// One unit, in which everything is static: calls between its parts are the most of a parse.
#include "arena.h"
#include "array.h"
#include "abi.h"
#include "subtree.h"
#include "lexer.h"
#include "stack.h"
#include "parser.h"

static void room(flat_tree *t) {
  if (t->count < t->capacity) return;
  t->capacity *= 2;
  t->nodes = grow(t->nodes, t->capacity * sizeof *t->nodes);
}

// level is a node whose children are gone through.
typedef struct {
  subtree of;
  const symbol_id *aliases;
  length position;      // of the next child, its padding included
  uint32_t next, place; // of the next child: its index, and its number among those that are no extras
  uint32_t own_place;   // of the node itself
  uint32_t parent;      // index of the innermost written node, this one or around it
  bool visible;
} level;

static level enter(const TSLanguage *language, subtree of, length position, uint32_t place, uint32_t parent, bool visible) {
  return (level){.of = of, .aliases = alias_sequence(language, of.node->production), .position = position, .own_place = place, .parent = parent, .visible = visible};
}

typedef array(level) levels;

// field_of is the name under which the nearest visible node has the child at a place of the
// innermost level: hidden nodes in between may be what has the name.
static uint16_t field_of(const TSLanguage *language, const levels *all, subtree child, uint32_t place) {
  if (!language->field_count) return 0;
  for (uint32_t i = all->size; i > 0; i--) {
    if (is_extra(child)) return 0;
    const level *above = &all->at[i - 1];
    field_slice slice = language->field_slices[above->of.node->production];
    for (const field_entry *e = &language->field_entries[slice.index], *end = e + slice.length; e < end; e++) {
      if (!e->inherited && e->child == place) return e->field;
    }
    if (above->visible) return 0;
    child = above->of;
    place = above->own_place;
  }
  return 0;
}

typedef struct {
  const TSLanguage *language;
  const uint8_t *wanted, *opened;
  flat_tree *out;
  levels levels;
} writer;

// write_node writes a visible node down, if it is wanted, and tells whether its children
// come next.
static bool write_node(writer *w, subtree s, symbol_id alias, length at, uint32_t place, uint32_t parent) {
  const TSLanguage *language = w->language;
  symbol_id symbol = public_symbol(language, alias ? alias : symbol_of(s));
  bool named = alias ? kind_of(language, alias).named : is_named(s), missing = is_missing(s);
  if (!named && !missing && symbol != SYMBOL_ERROR && !w->wanted[symbol]) return false;
  room(w->out);
  flat_node *n = &w->out->nodes[w->out->count++];
  n->start = at.bytes;
  n->end = at.bytes + size_of(s).bytes;
  n->row = at.rows;
  n->symbol = symbol;
  n->field = field_of(language, &w->levels, s, place);
  n->parent = parent;
  n->last = w->out->count;
  n->flags = (named ? FLAT_NAMED : 0) | (missing ? FLAT_MISSING : 0);
  if (symbol == SYMBOL_ERROR) n->flags |= FLAT_ERROR;
  if (error_cost(s) > 0) n->flags |= FLAT_BROKEN;
  if (is_extra(s)) n->flags |= FLAT_EXTRA;
  return w->wanted && (!w->opened || w->opened[symbol]) && child_count(s);
}

// write_down goes through the tree in its order. A node that is not written has no
// children: only tokens are left out.
static void write_down(flat_tree *out, const TSLanguage *language, subtree root, uint32_t length, const uint8_t *wanted, const uint8_t *opened) {
  if (error_cost(root)) opened = NULL;
  out->capacity = !wanted ? 1 : opened ? length / 64 + 64 : length / 4 + 64;
  out->nodes = take(out->capacity * sizeof *out->nodes);
  writer w = {language, wanted, opened, out};
  if (write_node(&w, root, 0, padding_of(root), 0, 0)) {
    struct length begin = {0};
    array_push(&w.levels, enter(language, root, begin, 0, 0, true));
  }
  while (w.levels.size) {
    level *l = &w.levels.at[w.levels.size - 1];
    if (l->next == l->of.node->child_count) {
      if (l->visible) out->nodes[l->parent].last = out->count;
      w.levels.size--;
      continue;
    }
    subtree child = children_of(l->of)[l->next++];
    uint32_t place = l->place;
    symbol_id alias = 0;
    if (!is_extra(child)) {
      if (l->aliases) alias = l->aliases[place];
      l->place++;
    }
    struct length begin = l->position;
    l->position = length_add(begin, total_of(child));
    uint32_t parent = l->parent;
    if (alias || is_visible(child)) {
      if (write_node(&w, child, alias, length_add(begin, padding_of(child)), place, parent))
        array_push(&w.levels, enter(language, child, begin, place, out->count - 1, true));
    } else if (visible_children(child)) {
      array_push(&w.levels, enter(language, child, begin, place, parent, false));
    }
  }
}

static lookups *known_of(arena *a, const TSLanguage *language) {
  lookups *known = &a->known;
  if (known->of == language) return known;
  memset(known, 0, sizeof *known);
  known->of = language;
  known->at[0].key = 1; // 0 is one that is not known yet, and this is not its place
  return known;
}

// gives_up is where a parse of this thread goes on when a scanner of the grammar gives up.
static _Thread_local jmp_buf *gives_up;

// Scanners check their own state with assert, which ends the process: one does so for a text
// that it cannot write down. Here that ends the parse. It is the name under which the C
// library has what a failed assert calls.
_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
  if (gives_up) longjmp(*gives_up, 1);
  fprintf(stderr, "%s:%u: %s: %s does not hold\n", file, line, function, assertion);
  abort();
}

static __attribute__((noinline)) flat_tree parse_text(arena *memory, const TSLanguage *language, const char *source, uint32_t length, uint64_t micros, const uint8_t *wanted, const uint8_t *opened) {
  flat_tree out = {0};
  parser *p = take_clean(1, sizeof *p);
  p->language = language;
  p->known = known_of(memory, language);
  p->deadline = processor_time() + micros;
  lexer_init(&p->lexer, (const uint8_t *)source, length);
  stack_init(&p->stack, &p->going);
  if (language->scanner.states) p->scanner = language->scanner.create();
  subtree root = parse(p);
  if (is_some(root)) {
    write_down(&out, language, root, length, wanted, opened);
  } else {
    out.fault = FLAT_TIME;
  }
  if (language->scanner.states) language->scanner.destroy(p->scanner); // may hold memory of the C library
  return out;
}

// flat_parse parses and writes down all named nodes, and of the others those whose
// symbol is wanted; the root alone where no list is given. Of a tree without errors it
// goes into nodes only whose symbol is opened, where that list is given. It is iterative:
// hostile nesting costs memory and no stack of ours. micros bounds the processor time of the
// parse: what else a machine does takes none of it. Nothing of the tree is given back by
// itself: all its memory is the arena's, the nodes too, and goes at once with arena_clear.
flat_tree flat_parse(arena *memory, const TSLanguage *language, const char *source, uint32_t length, uint64_t micros, const uint8_t *wanted, const uint8_t *opened) {
  flat_tree out = {0};
  jmp_buf here;
  if (language->version < 13 || language->version > 14) {
    out.fault = FLAT_LANGUAGE;
    return out;
  }
  current = memory;
  gives_up = &here;
  if (_setjmp(here)) out.fault = FLAT_SCANNER;
  else out = parse_text(memory, language, source, length, micros, wanted, opened);
  current = NULL;
  gives_up = NULL;
  return out;
}

uint32_t flat_symbols(const TSLanguage *of) { return of->symbol_count + of->alias_count; }
uint32_t flat_fields(const TSLanguage *of) { return of->field_count; }
const char *flat_symbol(const TSLanguage *of, uint32_t i) { return of->symbol_names[i]; }
const char *flat_field(const TSLanguage *of, uint32_t i) { return of->field_names[i]; }
