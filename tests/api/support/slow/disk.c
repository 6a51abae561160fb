/* A slow disk: makes fsync and fdatasync wait as long as the file that the variable HOLD_SYNC names exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int synced(const char *name, int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    const char *hold = getenv("HOLD_SYNC");
    while (hold && access(hold, F_OK) == 0) usleep(2000);
    return real(file);
}

int fsync(int file) { return synced("fsync", file); }
int fdatasync(int file) { return synced("fdatasync", file); }
