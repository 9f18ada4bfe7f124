/* Faults on demand: preloaded (LD_PRELOAD), it counts the calls that change files below a folder and, at the n-th one,
 * kills the process, lets the call fail, or does the call and reports a failure all the same.
 *
 *   SHIM_FOLDER  absolute path of the folder; without it nothing is counted
 *   SHIM_CALLS   which calls, separated by commas: open write sync rename link unlink truncate mkdir, and read for
 *                opening and reading what is there (only if named)
 *   SHIM_AT      the n-th call, from 1; 0 only counts
 *   SHIM_MODE    kill (before the call), torn (half of a write, then kill), fail (errno SHIM_ERRNO), after (do the call,
 *                then fail)
 *   SHIM_TIMES   how many calls fail from the n-th on; 0: all
 *   SHIM_NAME    count only paths that contain this
 *
 * A process may also set them for itself: shim_arm(). shim_count() tells how many calls there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { KILL, TORN, FAIL, AFTER };

static char folder[PATH_MAX], calls[256], part[256];
static long at, times;
static int error_number;
static enum mode mode;
static atomic_long counted;

void shim_arm(const char *folder_, const char *calls_, long at_, const char *mode_, int errno_, long times_,
              const char *part_) {
  snprintf(folder, sizeof folder, "%s", folder_);
  snprintf(calls, sizeof calls, ",%s,", *calls_ ? calls_ : "open,write,sync,rename,link,unlink,truncate,mkdir");
  snprintf(part, sizeof part, "%s", part_);
  at = at_;
  times = times_;
  error_number = errno_;
  mode = !strcmp(mode_, "torn") ? TORN : !strcmp(mode_, "fail") ? FAIL : !strcmp(mode_, "after") ? AFTER : KILL;
  atomic_store(&counted, 0);
}

long shim_count(void) { return atomic_load(&counted); }

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

__attribute__((constructor)) static void from_environment(void) {
  if (*setting("SHIM_FOLDER"))
    shim_arm(setting("SHIM_FOLDER"), setting("SHIM_CALLS"), atol(setting("SHIM_AT")), setting("SHIM_MODE"),
             atoi(setting("SHIM_ERRNO")), atol(setting("SHIM_TIMES")), setting("SHIM_NAME"));
}

static int inside(const char *path) {
  size_t length = strlen(folder);
  return length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]) && strstr(path, part);
}

static int wanted(const char *call) {
  char quoted[32];
  snprintf(quoted, sizeof quoted, ",%s,", call);
  return *folder && strstr(calls, quoted);
}

static void path_of(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
}

static void path_at(int descriptor, const char *name, char *path) {
  size_t length = 0;
  if (*name != '/') {
    if (descriptor == AT_FDCWD) {
      if (!getcwd(path, PATH_MAX)) *path = 0;
    } else {
      path_of(descriptor, path);
    }
    length = strlen(path);
    if (length < PATH_MAX - 1) path[length++] = '/';
  }
  snprintf(path + length, PATH_MAX - length, "%s", name);
}

/* Count a call; true if this one is to be disturbed. In mode `kill` it does not return. */
static int disturbed_path(const char *call, const char *path) {
  if (!inside(path)) return 0;
  long number = atomic_fetch_add(&counted, 1) + 1;
  if (!at || number < at || (times && number >= at + times)) return 0;
  if (mode == KILL || (mode == TORN && strcmp(call, "write"))) raise(SIGKILL);
  return 1;
}

static int disturbed(const char *call, int descriptor, const char *name) {
  char path[PATH_MAX];
  if (!wanted(call)) return 0;
  if (name)
    path_at(descriptor, name, path);
  else
    path_of(descriptor, path);
  return disturbed_path(call, path);
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define SPOIL(result, work) \
  do { \
    if (mode == AFTER) { \
      work; \
    } \
    errno = error_number; \
    return result; \
  } while (0)

#define OPENED(descriptor, name, flags, work) \
  if (disturbed((flags) & (O_CREAT | O_TRUNC) ? "open" : "read", descriptor, name)) { \
    SPOIL(-1, { int opened = work; if (opened >= 0) close(opened); }); \
  } \
  return work

#define MODE_ARGUMENT(flags) \
  mode_t permissions = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    permissions = va_arg(rest, mode_t); \
    va_end(rest); \
  }

int open(const char *name, int flags, ...) {
  REAL(open);
  MODE_ARGUMENT(flags)
  OPENED(AT_FDCWD, name, flags, real(name, flags, permissions));
}

int open64(const char *name, int flags, ...) {
  REAL(open64);
  MODE_ARGUMENT(flags)
  OPENED(AT_FDCWD, name, flags, real(name, flags, permissions));
}

int openat(int descriptor, const char *name, int flags, ...) {
  REAL(openat);
  MODE_ARGUMENT(flags)
  OPENED(descriptor, name, flags, real(descriptor, name, flags, permissions));
}

int openat64(int descriptor, const char *name, int flags, ...) {
  REAL(openat64);
  MODE_ARGUMENT(flags)
  OPENED(descriptor, name, flags, real(descriptor, name, flags, permissions));
}

#define WRITTEN(descriptor, size, half, work) \
  if (disturbed("write", descriptor, NULL)) { \
    if (mode == TORN) { \
      if ((size) > 1) (void)!(half); \
      raise(SIGKILL); \
    } \
    SPOIL(-1, (void)!(work)); \
  } \
  return work

ssize_t write(int descriptor, const void *data, size_t size) {
  REAL(write);
  WRITTEN(descriptor, size, real(descriptor, data, size / 2), real(descriptor, data, size));
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset) {
  REAL(pwrite);
  WRITTEN(descriptor, size, real(descriptor, data, size / 2, offset), real(descriptor, data, size, offset));
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset) {
  REAL(pwrite64);
  WRITTEN(descriptor, size, real(descriptor, data, size / 2, offset), real(descriptor, data, size, offset));
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(writev);
  WRITTEN(descriptor, count, real(descriptor, parts, count / 2), real(descriptor, parts, count));
}

#define CHANGED(call, descriptor, name, work) \
  if (disturbed(call, descriptor, name)) SPOIL(-1, (void)!(work)); \
  return work

ssize_t read(int descriptor, void *data, size_t size) {
  REAL(read);
  CHANGED("read", descriptor, NULL, real(descriptor, data, size));
}

ssize_t pread(int descriptor, void *data, size_t size, off_t offset) {
  REAL(pread);
  CHANGED("read", descriptor, NULL, real(descriptor, data, size, offset));
}

ssize_t pread64(int descriptor, void *data, size_t size, off64_t offset) {
  REAL(pread64);
  CHANGED("read", descriptor, NULL, real(descriptor, data, size, offset));
}

int fsync(int descriptor) {
  REAL(fsync);
  CHANGED("sync", descriptor, NULL, real(descriptor));
}

int fdatasync(int descriptor) {
  REAL(fdatasync);
  CHANGED("sync", descriptor, NULL, real(descriptor));
}

int rename(const char *from, const char *to) {
  REAL(rename);
  CHANGED("rename", AT_FDCWD, to, real(from, to));
}

int renameat(int old, const char *from, int new, const char *to) {
  REAL(renameat);
  CHANGED("rename", new, to, real(old, from, new, to));
}

int renameat2(int old, const char *from, int new, const char *to, unsigned flags) {
  REAL(renameat2);
  CHANGED("rename", new, to, real(old, from, new, to, flags));
}

int link(const char *from, const char *to) {
  REAL(link);
  CHANGED("link", AT_FDCWD, to, real(from, to));
}

int linkat(int old, const char *from, int new, const char *to, int flags) {
  REAL(linkat);
  CHANGED("link", new, to, real(old, from, new, to, flags));
}

int unlink(const char *name) {
  REAL(unlink);
  CHANGED("unlink", AT_FDCWD, name, real(name));
}

int unlinkat(int descriptor, const char *name, int flags) {
  REAL(unlinkat);
  CHANGED("unlink", descriptor, name, real(descriptor, name, flags));
}

int truncate(const char *name, off_t size) {
  REAL(truncate);
  CHANGED("truncate", AT_FDCWD, name, real(name, size));
}

int truncate64(const char *name, off64_t size) {
  REAL(truncate64);
  CHANGED("truncate", AT_FDCWD, name, real(name, size));
}

int ftruncate(int descriptor, off_t size) {
  REAL(ftruncate);
  CHANGED("truncate", descriptor, NULL, real(descriptor, size));
}

int ftruncate64(int descriptor, off64_t size) {
  REAL(ftruncate64);
  CHANGED("truncate", descriptor, NULL, real(descriptor, size));
}

int mkdir(const char *name, mode_t permissions) {
  REAL(mkdir);
  CHANGED("mkdir", AT_FDCWD, name, real(name, permissions));
}

int mkdirat(int descriptor, const char *name, mode_t permissions) {
  REAL(mkdirat);
  CHANGED("mkdir", descriptor, name, real(descriptor, name, permissions));
}
