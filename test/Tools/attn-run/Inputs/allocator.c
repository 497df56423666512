// An allocator before the C library's, as jemalloc and tcmalloc are: what it did not give, it does not take.
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *memory);

enum { kMagic = 0x61746e }; // in front of the memory, with its base and size
struct Header {
  size_t magic, bytes;
  void *base;
};

void *memalign(size_t alignment, size_t bytes) {
  size_t room = alignment > 64 ? alignment : 64;
  char *base = __libc_memalign(room, bytes + room);
  if (!base)
    return NULL;
  struct Header *header = (struct Header *)(base + room) - 1;
  *header = (struct Header){kMagic, bytes, base};
  return base + room;
}

static struct Header *check(void *memory) {
  static const char message[] = "allocator: expected memory of its own, got other\n";
  struct Header *header = (struct Header *)memory - 1;
  if (header->magic != kMagic) {
    if (write(2, message, sizeof(message) - 1) < 0)
      _exit(2);
    _exit(1);
  }
  return header;
}

void free(void *memory) {
  if (!memory)
    return;
  struct Header *header = check(memory);
  header->magic = 0;
  __libc_free(header->base);
}

void *malloc(size_t bytes) { return memalign(64, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
size_t malloc_usable_size(void *memory) { return memory ? check(memory)->bytes : 0; }

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

void *calloc(size_t count, size_t bytes) {
  void *memory = malloc(count * bytes);
  return memory ? memset(memory, 0, count * bytes) : NULL;
}

void *realloc(void *memory, size_t bytes) {
  void *moved = malloc(bytes);
  if (moved && memory) {
    size_t old = malloc_usable_size(memory);
    memcpy(moved, memory, old < bytes ? old : bytes);
    free(memory);
  }
  return moved;
}
