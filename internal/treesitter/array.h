// Arrays that grow, of any element; their memory is the arena's. The macros name their
// arguments more than once.
#define array(T)             \
  struct {                   \
    T *at;                   \
    uint32_t size, capacity; \
  }

#define array_clear(a) ((a)->size = 0)
#define array_delete(a) (give((a)->at), (a)->at = NULL, (a)->size = (a)->capacity = 0)
#define array_reserve(a, n) \
  ((n) <= (a)->capacity ? (void)0 : (void)((a)->at = grow((a)->at, (n) * sizeof *(a)->at), (a)->capacity = (n)))
#define array_push(a, element)                                                                \
  ((a)->size < (a)->capacity ? (void)0 : array_reserve(a, (a)->capacity ? 2 * (a)->size : 8), \
   (a)->at[(a)->size++] = (element))
#define array_pop(a) ((a)->at[--(a)->size])
#define array_erase(a, i) \
  (memmove((a)->at + (i), (a)->at + (i) + 1, ((a)->size - (i) - 1) * sizeof *(a)->at), (void)(a)->size--)

// array_insert puts count elements before the one at i.
#define array_insert(a, i, count, elements)                                               \
  do {                                                                                    \
    array_reserve(a, (a)->size + (count));                                                \
    memmove((a)->at + (i) + (count), (a)->at + (i), ((a)->size - (i)) * sizeof *(a)->at); \
    memcpy((a)->at + (i), elements, (count) * sizeof *(a)->at);                           \
    (a)->size += (count);                                                                 \
  } while (0)
