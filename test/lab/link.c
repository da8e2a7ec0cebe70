// Carries point-to-point links between network namespaces, each as a pair of TUN devices, with delay, jitter, loss, drops,
// duplicates and a rate, changeable while running. One process and one thread for all links; ends with its standard input.
//
// Lines it takes, each answered by "ok ..." or "error ...":
//   link <namespace> <device> <namespace> <device>       the new link's number is the count of those before it
//   set <link> <direction 0|1> <delay us> <jitter us> <loss ppm> <drop every> <duplicate every> <bit/s> <down 0|1> <seed>
//       starts counting and the random sequence anew; direction 0 is from the first namespace to the second
//   stats <link> <direction>                             ok <carried> <dropped> <duplicated>
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINKS 64
#define MAX_QUEUED 512     // packets on their way in one direction; more are dropped
#define BATCH 64           // packets taken from one device before the others have their turn
#define EARLY_NS 60000     // a sleep ends so much before a packet is due; the rest is waited for awake

struct packet { struct packet *next; uint64_t due; int length; unsigned char bytes[]; };
struct direction {
  struct packet *head, *tail;
  uint64_t delay, jitter, loss_ppm, drop_every, duplicate_every, rate, down, random;
  uint64_t seen, carried, dropped, duplicated, queued, free_at;
};
static struct { int fd[2]; struct direction way[2]; } links[MAX_LINKS];
static struct pollfd watched[1 + 2 * MAX_LINKS];
static int count = 0, home;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// splitmix64
static uint64_t next_random(struct direction *d) {
  uint64_t z = (d->random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int open_tun(const char *namespace, const char *device) {
  char path[256];
  snprintf(path, sizeof path, "/run/netns/%s", namespace);
  int there = open(path, O_RDONLY | O_CLOEXEC);
  if (there < 0) return -1;
  if (setns(there, CLONE_NEWNET) < 0) { close(there); return -1; }
  close(there);
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  snprintf(request.ifr_name, IFNAMSIZ, "%s", device);
  int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  // Persistent: devices then go with their namespaces, all at once, instead of one by one (30 ms each) with this program.
  if (fd >= 0 && (ioctl(fd, TUNSETIFF, &request) < 0 || ioctl(fd, TUNSETPERSIST, 1) < 0)) { close(fd); fd = -1; }
  if (setns(home, CLONE_NEWNET) < 0) exit(1);
  return fd;
}

static void enqueue(struct direction *d, const unsigned char *bytes, int length, uint64_t due) {
  struct packet *p = malloc(sizeof *p + (size_t)length);
  if (!p) exit(1);
  *p = (struct packet){.due = due, .length = length};
  memcpy(p->bytes, bytes, (size_t)length);
  if (d->tail && p->due < d->tail->due) p->due = d->tail->due; // jitter reorders nothing
  if (d->tail) d->tail->next = p; else d->head = p;
  d->tail = p;
  d->queued++;
}

static void take(struct direction *d, const unsigned char *bytes, int length) {
  // The kernel's own multicast chatter (MLD, router solicitations) would spoil counted drops.
  if ((bytes[0] >> 4) == 6 && length >= 40 && bytes[24] == 0xff) return;
  d->seen++;
  if (d->down || d->queued >= MAX_QUEUED || (d->drop_every && d->seen % d->drop_every == 0) ||
      (d->loss_ppm && next_random(d) % 1000000 < d->loss_ppm)) {
    d->dropped++;
    return;
  }
  uint64_t start = now();
  if (d->rate) {
    if (d->free_at > start) start = d->free_at;
    start += (uint64_t)length * 8000000000u / d->rate;
    d->free_at = start;
  }
  uint64_t due = start + d->delay + (d->jitter ? next_random(d) % d->jitter : 0);
  d->carried++;
  enqueue(d, bytes, length, due);
  if (d->duplicate_every && d->seen % d->duplicate_every == 0) {
    d->duplicated++;
    enqueue(d, bytes, length, due);
  }
}

// Delivers what is due; returns when the next packet is.
static uint64_t deliver(void) {
  uint64_t next = UINT64_MAX;
  for (int i = 0; i < 2 * count; i++) {
    struct direction *d = &links[i / 2].way[i % 2];
    while (d->head && d->head->due <= now()) {
      struct packet *p = d->head;
      d->head = p->next;
      if (!d->head) d->tail = NULL;
      d->queued--;
      if (!d->down && write(links[i / 2].fd[1 - i % 2], p->bytes, (size_t)p->length) < 0) d->dropped++;
      free(p);
    }
    if (d->head && d->head->due < next) next = d->head->due;
  }
  return next;
}

static void obey(char *line) {
  char from[128], near[IFNAMSIZ], to[128], far[IFNAMSIZ];
  unsigned long link, way, v[8];
  if (sscanf(line, "link %127s %15s %127s %15s", from, near, to, far) == 4 && count < MAX_LINKS) {
    int *fd = links[count].fd;
    if ((fd[0] = open_tun(from, near)) < 0 || (fd[1] = open_tun(to, far)) < 0) { printf("error %s: %m", line); return; }
    for (int end = 0; end < 2; end++) watched[1 + 2 * count + end] = (struct pollfd){.fd = fd[end], .events = POLLIN};
    printf("ok %d\n", count++);
  } else if (sscanf(line, "set %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu", &link, &way, v, v + 1, v + 2, v + 3, v + 4,
                    v + 5, v + 6, v + 7) == 10 && link < (unsigned long)count && way < 2) {
    struct direction *d = &links[link].way[way];
    d->delay = v[0] * 1000, d->jitter = v[1] * 1000, d->loss_ppm = v[2], d->drop_every = v[3], d->duplicate_every = v[4];
    d->rate = v[5], d->down = v[6], d->random = v[7], d->seen = d->carried = d->dropped = d->duplicated = 0;
    printf("ok\n");
  } else if (sscanf(line, "stats %lu %lu", &link, &way) == 2 && link < (unsigned long)count && way < 2) {
    struct direction *d = &links[link].way[way];
    printf("ok %lu %lu %lu\n", d->carried, d->dropped, d->duplicated);
  } else printf("error %s", line);
}

int main(void) {
  static char lines[65536];
  static unsigned char bytes[65536];
  size_t held = 0;
  struct sched_param first = {.sched_priority = 1};
  home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  prctl(PR_SET_TIMERSLACK, 1);
  // Best effort, both: without them other work on the machine shows in the delays.
  mlockall(MCL_CURRENT | MCL_FUTURE);
  sched_setscheduler(0, SCHED_FIFO, &first);
  watched[0] = (struct pollfd){.fd = 0, .events = POLLIN};
  for (;;) {
    uint64_t next = deliver(), at = now(), wait = next > at + EARLY_NS ? next - at - EARLY_NS : 0;
    struct timespec sleep = {.tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
    if (ppoll(watched, (nfds_t)(1 + 2 * count), next == UINT64_MAX ? NULL : &sleep, NULL) < 0) continue;
    for (int i = 0; i < 2 * count; i++) {
      for (int taken = 0; taken < BATCH && (watched[1 + i].revents & POLLIN); taken++) {
        ssize_t length = read(links[i / 2].fd[i % 2], bytes, sizeof bytes);
        if (length <= 0) break;
        take(&links[i / 2].way[i % 2], bytes, (int)length);
      }
    }
    if (!watched[0].revents) continue;
    ssize_t got = read(0, lines + held, sizeof lines - held - 1);
    if (got <= 0) return 0;
    lines[held += (size_t)got] = 0;
    char *line = lines;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
      char saved = end[1];
      end[1] = 0;
      obey(line);
      end[1] = saved;
    }
    held = strlen(line);
    memmove(lines, line, held);
    fflush(stdout);
  }
}
