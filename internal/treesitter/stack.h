// The stack of a parse that can go on in several ways at once: its nodes form a graph, and
// each version of the parse is a head of it (Tomita's graph-structured stack).

enum { MOST_LINKS = 8, MOST_PATHS = 64 };

static const uint32_t NO_VERSION = UINT32_MAX;

enum { STATE_ERROR = 0, STATE_START = 1 };

typedef struct stack_node stack_node;

// stack_link leads to the node below, over what was pushed; no_subtree is the place where
// an error began.
typedef struct {
  stack_node *node;
  subtree subtree;
} stack_link;

struct stack_node {
  state_id state;
  uint16_t link_count;
  uint32_t references;
  length position;
  uint32_t error_cost, node_count;
  int32_t dynamic_precedence;
  stack_link links[MOST_LINKS]; // link_count of them
};

// path is a way down from a head, with what lies on it, the uppermost first.
typedef struct {
  stack_node *node;
  subtrees subtrees;
  uint32_t depth; // subtrees that are no extras
} path;

// popped is what was taken off one path, the lowest first, and the version that is left.
typedef struct {
  subtrees subtrees;
  uint32_t version;
} popped;

typedef array(popped) all_popped;

typedef struct {
  length position;
  uint32_t depth;
  state_id state;
} below;

typedef array(below) summary;

typedef enum { ACTIVE, PAUSED, HALTED } status;

typedef struct {
  stack_node *node;
  summary *summary; // of the states below an error
  uint32_t node_count_at_last_error;
  subtree last_external, lookahead_when_paused;
  status status;
} stack_head;

typedef struct {
  array(stack_head) heads;
  all_popped popped;
  array(path) paths;
  stack_node *spare; // nodes that were given back, each linked to the next
  subtrees *going;   // room for release
} stack;

static inline stack_node *node_take(stack *s) {
  stack_node *n = s->spare;
  if (!n) return take(sizeof *n);
  s->spare = n->links[0].node;
  return n;
}

static inline void node_give(stack *s, stack_node *n) {
  n->links[0].node = s->spare;
  s->spare = n;
}

static void node_release(stack *s, stack_node *n) {
  while (n && --n->references == 0) {
    for (uint32_t i = 1; i < n->link_count; i++) {
      if (is_some(n->links[i].subtree)) release(s->going, n->links[i].subtree);
      node_release(s, n->links[i].node);
    }
    stack_node *next = NULL;
    if (n->link_count) {
      if (is_some(n->links[0].subtree)) release(s->going, n->links[0].subtree);
      next = n->links[0].node;
    }
    node_give(s, n);
    n = next;
  }
}

// node_count counts the nodes of a subtree, by which progress after an error is measured:
// errors count though they are not visible.
static inline uint32_t node_count(subtree s) {
  return visible_descendants(s) + is_visible(s) + (symbol_of(s) == SYMBOL_ERROR_REPEAT);
}

static void stack_push(stack *s, uint32_t version, subtree pushed, state_id state) {
  stack_head *head = &s->heads.at[version];
  stack_node *before = head->node, *n = node_take(s);
  n->references = 1;
  n->state = state;
  n->link_count = 1;
  n->links[0] = (stack_link){before, pushed};
  n->position = before->position;
  n->error_cost = before->error_cost;
  n->dynamic_precedence = before->dynamic_precedence;
  n->node_count = before->node_count;
  if (is_some(pushed)) {
    n->error_cost += error_cost(pushed);
    n->position = length_add(n->position, total_of(pushed));
    n->node_count += node_count(pushed);
    n->dynamic_precedence += dynamic_precedence(pushed);
  } else {
    head->node_count_at_last_error = n->node_count;
  }
  head->node = n;
}

// is_equivalent tells whether two ways to read the same text are kept as one.
static bool is_equivalent(subtree a, subtree b) {
  if (a.bits == b.bits) return true;
  if (!is_some(a) || !is_some(b) || symbol_of(a) != symbol_of(b)) return false;
  if (error_cost(a) > 0 && error_cost(b) > 0) return true;
  return padding_of(a).bytes == padding_of(b).bytes && size_of(a).bytes == size_of(b).bytes &&
         child_count(a) == child_count(b) && is_extra(a) == is_extra(b) && same_scanner_state(a, b);
}

static void add_link(stack *s, stack_node *to, stack_link link) {
  if (link.node == to) return;
  for (uint32_t i = 0; i < to->link_count; i++) {
    stack_link *known = &to->links[i];
    if (!is_equivalent(known->subtree, link.subtree)) continue;
    if (known->node == link.node) { // between the same nodes one of them is enough
      if (dynamic_precedence(link.subtree) > dynamic_precedence(known->subtree)) {
        retain(link.subtree);
        release(s->going, known->subtree);
        known->subtree = link.subtree;
        to->dynamic_precedence = link.node->dynamic_precedence + dynamic_precedence(link.subtree);
      }
      return;
    }
    if (known->node->state == link.node->state && known->node->position.bytes == link.node->position.bytes &&
        known->node->error_cost == link.node->error_cost) {
      for (uint32_t j = 0; j < link.node->link_count; j++) add_link(s, known->node, link.node->links[j]);
      int32_t precedence = link.node->dynamic_precedence;
      if (is_some(link.subtree)) precedence += dynamic_precedence(link.subtree);
      if (precedence > to->dynamic_precedence) to->dynamic_precedence = precedence;
      return;
    }
  }
  if (to->link_count == MOST_LINKS) return;
  link.node->references++;
  uint32_t count = link.node->node_count;
  int32_t precedence = link.node->dynamic_precedence;
  to->links[to->link_count++] = link;
  if (is_some(link.subtree)) {
    retain(link.subtree);
    count += node_count(link.subtree);
    precedence += dynamic_precedence(link.subtree);
  }
  if (count > to->node_count) to->node_count = count;
  if (precedence > to->dynamic_precedence) to->dynamic_precedence = precedence;
}

static void head_delete(stack *s, stack_head *head) {
  if (is_some(head->last_external)) release(s->going, head->last_external);
  if (is_some(head->lookahead_when_paused)) release(s->going, head->lookahead_when_paused);
  if (head->summary) {
    array_delete(head->summary);
    give(head->summary);
  }
  node_release(s, head->node);
}

// add_popped keeps what was taken off a path, beside others that end in the same node.
static void add_popped(stack *s, uint32_t version, stack_node *n, subtrees taken) {
  for (uint32_t i = s->popped.size; i > 0; i--) {
    uint32_t of = s->popped.at[i - 1].version;
    if (s->heads.at[of].node == n) {
      popped p = {taken, of};
      array_insert(&s->popped, i, 1, &p);
      return;
    }
  }
  stack_head head = {
    .node = n,
    .node_count_at_last_error = s->heads.at[version].node_count_at_last_error,
    .last_external = s->heads.at[version].last_external,
  };
  n->references++;
  if (is_some(head.last_external)) retain(head.last_external);
  array_push(&s->heads, head);
  popped p = {taken, s->heads.size - 1};
  array_push(&s->popped, p);
}

static subtrees copy_of(subtrees from) {
  subtrees to = {0};
  if (!from.capacity) return to;
  array_reserve(&to, from.capacity);
  to.size = from.size;
  for (uint32_t i = 0; i < from.size; i++) to.at[i] = retain(from.at[i]);
  return to;
}

enum { GO_ON = 0, STOP = 1, POP = 2 };

typedef int visitor(void *with, const path *at);

// stack_walk goes down all paths from a version at once, until visit says stop, and gives
// what lies on those for which it said pop. With room < 0 nothing is collected, else there
// is room for so many children and their node.
static inline __attribute__((always_inline)) all_popped stack_walk(stack *s, uint32_t version, visitor *visit, void *with, int room) {
  array_clear(&s->popped);
  array_clear(&s->paths);
  path first = {.node = s->heads.at[version].node};
  if (room >= 0) array_reserve(&first.subtrees, room_for((uint32_t)room));
  array_push(&s->paths, first);
  while (s->paths.size > 0) {
    for (uint32_t i = 0, size = s->paths.size; i < size; i++) {
      stack_node *n = s->paths.at[i].node;
      int what = visit(with, &s->paths.at[i]);
      bool stop = what & STOP || n->link_count == 0;
      if (what & POP) {
        subtrees taken = stop ? s->paths.at[i].subtrees : copy_of(s->paths.at[i].subtrees);
        for (uint32_t a = 0, b = taken.size; a + 1 < b; a++) {
          subtree other = taken.at[--b];
          taken.at[b] = taken.at[a];
          taken.at[a] = other;
        }
        add_popped(s, version, n, taken);
      }
      if (stop) {
        if (!(what & POP)) release_all(s->going, &s->paths.at[i].subtrees);
        array_erase(&s->paths, i);
        i--, size--;
        continue;
      }
      for (uint32_t j = 1; j <= n->link_count; j++) {
        stack_link link = n->links[j % n->link_count]; // the first one last: it goes on in place
        path *next = &s->paths.at[i];
        if (j < n->link_count) {
          if (s->paths.size >= MOST_PATHS) continue;
          path beside = *next;
          beside.subtrees = copy_of(beside.subtrees);
          array_push(&s->paths, beside);
          next = &s->paths.at[s->paths.size - 1];
        }
        next->node = link.node;
        if (is_some(link.subtree) && room >= 0) array_push(&next->subtrees, retain(link.subtree));
        if (!is_some(link.subtree) || !is_extra(link.subtree)) next->depth++;
      }
    }
  }
  return s->popped;
}

static inline int at_depth(void *with, const path *at) { return at->depth == *(uint32_t *)with ? POP | STOP : GO_ON; }

static all_popped stack_pop(stack *s, uint32_t version, uint32_t count) {
  return stack_walk(s, version, at_depth, &count, (int)count);
}

// stack_pop_only pops off the only version, where one path leads down: nothing else holds
// what lies on it, and it goes over from the stack to the caller. It tells whether that is
// so.
static bool stack_pop_only(stack *s, uint32_t count, subtrees *taken) {
  stack_head *head = &s->heads.at[0];
  stack_node *n = head->node;
  uint32_t size = 0;
  for (uint32_t left = count; left;) {
    if (n->link_count != 1 || !is_some(n->links[0].subtree)) return false;
    if (!is_extra(n->links[0].subtree)) left--;
    size++;
    n = n->links[0].node;
  }
  *taken = (subtrees){0};
  array_reserve(taken, room_for(size));
  taken->size = size;
  for (n = head->node; size; size--) {
    stack_node *next = n->links[0].node;
    taken->at[size - 1] = n->links[0].subtree;
    node_give(s, n);
    n = next;
  }
  head->node = n;
  return true;
}

static inline int at_error(void *with, const path *at) {
  bool *found = with;
  if (!at->subtrees.size) return GO_ON;
  if (*found || !is_error(at->subtrees.at[0])) return STOP;
  *found = true;
  return POP | STOP;
}

static void stack_renumber(stack *s, uint32_t from, uint32_t to) {
  if (from == to) return;
  stack_head *source = &s->heads.at[from], *target = &s->heads.at[to];
  if (target->summary && !source->summary) {
    source->summary = target->summary;
    target->summary = NULL;
  }
  head_delete(s, target);
  *target = *source;
  array_erase(&s->heads, from);
}

// stack_pop_error pops an error off the top, where there is one.
static subtrees stack_pop_error(stack *s, uint32_t version) {
  stack_node *n = s->heads.at[version].node;
  for (uint32_t i = 0; i < n->link_count; i++) {
    if (!is_some(n->links[i].subtree) || !is_error(n->links[i].subtree)) continue;
    bool found = false;
    all_popped all = stack_walk(s, version, at_error, &found, 1);
    if (!all.size) break;
    stack_renumber(s, all.at[0].version, version);
    return all.at[0].subtrees;
  }
  return (subtrees){0};
}

static inline int at_bottom(void *with, const path *at) {
  (void)with;
  return at->node->link_count == 0 ? POP : GO_ON;
}

static all_popped stack_pop_all(stack *s, uint32_t version) { return stack_walk(s, version, at_bottom, NULL, 0); }

typedef struct {
  summary *summary;
  uint32_t most;
} summing;

static inline int summing_up(void *with, const path *at) {
  summing *session = with;
  summary *all = session->summary;
  if (at->depth > session->most) return STOP;
  for (uint32_t i = all->size; i > 0; i--) {
    below known = all->at[i - 1];
    if (known.depth < at->depth) break;
    if (known.depth == at->depth && known.state == at->node->state) return GO_ON;
  }
  array_push(all, ((below){at->node->position, at->depth, at->node->state}));
  return GO_ON;
}

static void stack_sum_up(stack *s, uint32_t version, uint32_t most) {
  summing session = {take_clean(1, sizeof(summary)), most};
  stack_walk(s, version, summing_up, &session, -1);
  stack_head *head = &s->heads.at[version];
  if (head->summary) {
    array_delete(head->summary);
    give(head->summary);
  }
  head->summary = session.summary;
}

static inline state_id stack_state(const stack *s, uint32_t version) { return s->heads.at[version].node->state; }
static inline length stack_position(const stack *s, uint32_t version) { return s->heads.at[version].node->position; }
static inline bool is_active(const stack *s, uint32_t version) { return s->heads.at[version].status == ACTIVE; }
static inline bool is_paused(const stack *s, uint32_t version) { return s->heads.at[version].status == PAUSED; }

static void stack_set_last_external(stack *s, uint32_t version, subtree token) {
  stack_head *head = &s->heads.at[version];
  if (is_some(token)) retain(token);
  if (is_some(head->last_external)) release(s->going, head->last_external);
  head->last_external = token;
}

static uint32_t stack_error_cost(const stack *s, uint32_t version) {
  const stack_head *head = &s->heads.at[version];
  uint32_t cost = head->node->error_cost;
  if (head->status == PAUSED || (head->node->state == STATE_ERROR && !is_some(head->node->links[0].subtree))) cost += COST_RECOVERY;
  return cost;
}

static uint32_t stack_nodes_since_error(stack *s, uint32_t version) {
  stack_head *head = &s->heads.at[version];
  if (head->node->node_count < head->node_count_at_last_error) head->node_count_at_last_error = head->node->node_count;
  return head->node->node_count - head->node_count_at_last_error;
}

static bool stack_has_advanced_since_error(const stack *s, uint32_t version) {
  const stack_head *head = &s->heads.at[version];
  const stack_node *n = head->node;
  if (n->error_cost == 0) return true;
  for (; n->link_count; n = n->links[0].node) {
    subtree at = n->links[0].subtree;
    if (!is_some(at)) return false;
    if (total_of(at).bytes > 0) return true;
    if (n->node_count <= head->node_count_at_last_error || error_cost(at) != 0) return false;
  }
  return false;
}

static void stack_remove(stack *s, uint32_t version) {
  head_delete(s, &s->heads.at[version]);
  array_erase(&s->heads, version);
}

static void stack_swap(stack *s, uint32_t a, uint32_t b) {
  stack_head head = s->heads.at[a];
  s->heads.at[a] = s->heads.at[b];
  s->heads.at[b] = head;
}

static uint32_t stack_copy(stack *s, uint32_t version) {
  stack_head head = s->heads.at[version];
  head.node->references++;
  if (is_some(head.last_external)) retain(head.last_external);
  head.summary = NULL;
  array_push(&s->heads, head);
  return s->heads.size - 1;
}

static bool can_merge(const stack *s, uint32_t a, uint32_t b) {
  const stack_head *first = &s->heads.at[a], *second = &s->heads.at[b];
  return first->status == ACTIVE && second->status == ACTIVE && first->node->state == second->node->state &&
         first->node->position.bytes == second->node->position.bytes && first->node->error_cost == second->node->error_cost &&
         same_scanner_state(first->last_external, second->last_external);
}

// stack_merge makes version b one with a, where they are in the same state.
static bool stack_merge(stack *s, uint32_t a, uint32_t b) {
  if (!can_merge(s, a, b)) return false;
  stack_head *first = &s->heads.at[a], *second = &s->heads.at[b];
  for (uint32_t i = 0; i < second->node->link_count; i++) add_link(s, first->node, second->node->links[i]);
  if (first->node->state == STATE_ERROR) first->node_count_at_last_error = first->node->node_count;
  stack_remove(s, b);
  return true;
}

static void stack_pause(stack *s, uint32_t version, subtree lookahead) {
  stack_head *head = &s->heads.at[version];
  head->status = PAUSED;
  head->lookahead_when_paused = lookahead;
  head->node_count_at_last_error = head->node->node_count;
}

static subtree stack_resume(stack *s, uint32_t version) {
  stack_head *head = &s->heads.at[version];
  subtree lookahead = head->lookahead_when_paused;
  head->status = ACTIVE;
  head->lookahead_when_paused = no_subtree;
  return lookahead;
}

static void stack_init(stack *s, subtrees *going) {
  *s = (stack){.going = going};
  stack_node *bottom = take_clean(1, sizeof *bottom);
  bottom->references = 1;
  bottom->state = STATE_START;
  array_push(&s->heads, ((stack_head){.node = bottom}));
}
