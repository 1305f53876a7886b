#include "flat.h"
#include <stdlib.h>
#include <time.h>

TSTree *ts_parser_parse_string(TSParser *, const TSTree *, const char *, uint32_t);
TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *);
bool ts_parser_set_language(TSParser *, const TSLanguage *);
void ts_parser_set_timeout_micros(TSParser *, uint64_t);
TSNode ts_tree_root_node(const TSTree *);
TSTreeCursor ts_tree_cursor_new(TSNode);
TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *);
bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
bool ts_tree_cursor_goto_parent(TSTreeCursor *);
uint32_t ts_node_start_byte(TSNode);
uint32_t ts_node_end_byte(TSNode);
TSPoint ts_node_start_point(TSNode);
uint16_t ts_node_symbol(TSNode);
bool ts_node_is_named(TSNode);
bool ts_node_is_missing(TSNode);
bool ts_node_is_error(TSNode);
bool ts_node_is_extra(TSNode);
bool ts_node_has_error(TSNode);

static bool room(flat_tree *t) {
  if (t->count < t->capacity) return true;
  uint32_t capacity = t->capacity ? 2 * t->capacity : 4096;
  flat_node *nodes = realloc(t->nodes, capacity * sizeof *nodes);
  if (!nodes) return false;
  t->nodes = nodes;
  t->capacity = capacity;
  return true;
}

// cpu is the processor time of this thread in microseconds.
static uint64_t cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void write_down(flat_tree *out, TSTree *tree, uint32_t length, const uint8_t *wanted, const uint8_t *opened) {
  TSNode root = ts_tree_root_node(tree);
  if (ts_node_has_error(root)) opened = NULL;
  out->capacity = !wanted ? 1 : opened ? length / 64 + 64 : length / 4 + 64;
  out->nodes = malloc(out->capacity * sizeof *out->nodes);
  if (!out->nodes) {
    out->fault = FLAT_MEMORY;
    return;
  }
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  // parent is the innermost written node that is still open. A node that is not
  // written has no children: only tokens are left out.
  uint32_t parent = 0;
  bool more = true;
  while (more) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    uint16_t symbol = ts_node_symbol(node);
    bool named = ts_node_is_named(node), missing = ts_node_is_missing(node);
    bool down = false;
    if (named || missing || symbol == 65535 || wanted[symbol]) {
      if (!room(out)) {
        out->fault = FLAT_MEMORY;
        break;
      }
      flat_node *n = &out->nodes[out->count];
      n->start = ts_node_start_byte(node);
      n->end = ts_node_end_byte(node);
      n->row = ts_node_start_point(node).row;
      n->symbol = symbol;
      n->field = ts_tree_cursor_current_field_id(&cursor);
      n->parent = parent;
      n->last = out->count + 1;
      n->flags = (named ? FLAT_NAMED : 0) | (missing ? FLAT_MISSING : 0);
      if (ts_node_is_error(node)) n->flags |= FLAT_ERROR;
      if (ts_node_has_error(node)) n->flags |= FLAT_BROKEN;
      if (ts_node_is_extra(node)) n->flags |= FLAT_EXTRA;
      down = wanted && (!opened || opened[symbol]) && ts_tree_cursor_goto_first_child(&cursor);
      if (down) parent = out->count;
      out->count++;
    }
    if (down) continue;
    while (!(more = ts_tree_cursor_goto_next_sibling(&cursor))) {
      if (!ts_tree_cursor_goto_parent(&cursor)) break;
      out->nodes[parent].last = out->count;
      parent = out->nodes[parent].parent;
    }
  }
}

// flat_parse parses and writes down all named nodes, and of the others those whose
// symbol is wanted; the root alone where no list is given. Of a tree without errors it
// goes into nodes only whose symbol is opened, where that list is given. It is iterative:
// hostile nesting costs memory and no stack of ours. micros bounds the processor time of the
// parse: what else a machine does takes none of it. tree-sitter itself looks at the clock
// on the wall, each slice, and goes on from there. The tree is not deleted: all its memory
// is the arena's, and goes at once.
flat_tree flat_parse(arena *memory, const TSLanguage *language, const char *source, uint32_t length, uint64_t micros, uint64_t slice, const uint8_t *wanted, const uint8_t *opened) {
  flat_tree out = {0};
  arena_enter(memory);
  TSParser *parser = ts_parser_new();
  if (!ts_parser_set_language(parser, language)) {
    out.fault = FLAT_LANGUAGE;
  } else {
    ts_parser_set_timeout_micros(parser, slice);
    uint64_t end = cpu() + micros;
    TSTree *tree;
    do {
      tree = ts_parser_parse_string(parser, NULL, source, length);
    } while (!tree && cpu() < end);
    if (tree) {
      write_down(&out, tree, length, wanted, opened);
    } else {
      out.fault = FLAT_TIME;
    }
  }
  ts_parser_delete(parser); // a scanner may hold memory of the C library
  arena_leave(memory);
  return out;
}
