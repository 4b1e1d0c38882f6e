/* Tables of places, compared component by component. */
#include "paths.h"

#include <stdint.h>
#include <string.h>

#include "base/macro.h"

/* Stands for a working directory that nobody told: relative paths stay in it, ".." leaves it. */
#define NO_CWD "/?/?"

static const char *const system_directories[] = {
    "/bin",           "/boot",
    "/dev",           "/etc",
    "/lib",           "/lib32",
    "/lib64",         "/libx32",
    "/lost+found",    "/media",
    "/mnt",           "/opt",
    "/proc",          "/run",
    "/sbin",          "/snap",
    "/srv",           "/sys",
    "/usr",           "/var",
    "/tmp",           "/var/tmp",
    "/dev/shm",       "/usr/bin",
    "/usr/lib",       "/usr/lib64",
    "/usr/local",     "/usr/sbin",
    "/usr/share",     "/usr/include",
    "/usr/libexec",   "/usr/src",
    "/usr/local/bin", "/usr/local/lib",
    "/var/lib",       "/var/log",
    "/var/cache",     "/var/spool",
    "/var/mail",      "/var/www",
    "/var/backups",   "/etc/ssl",
    "/etc/systemd",   "/etc/pam.d",
    "/var/lib/dpkg",  "/var/lib/docker",
    "/System",        "/Library",
};

/* Everything in these may go without harm to the system, though the directory itself may not. */
static const char *const scratch_directories[] = {"/tmp", "/var/tmp", "/dev/shm"};

/* What is in these is somebody's data, not the system's. */
static const char *const data_directories[] = {
    "/tmp", "/var/tmp", "/dev/shm", "/srv", "/opt", "/mnt", "/media", "/var/www", "/run/user",
};

static const char *const home_directories[] = {"/home", "/home/*", "/root", "/Users", "/Users/*"};

static const char *const no_files[] = {
    "/dev/null",  "/dev/tty",        "/dev/zero",    "/dev/full",    "/dev/random", "/dev/urandom",
    "/dev/stdin", "/dev/stdout",     "/dev/stderr",  "/dev/console", "/dev/pts/*",  "/dev/fd/*",
    "/dev/ptmx",  "/proc/self/fd/*", "/dev/tcp/*/*", "/dev/udp/*/*", "/dev/log",
};

static const char *const disks[] = {
    "/dev/sd[a-z]*", "/dev/hd[a-z]*",   "/dev/vd[a-z]*", "/dev/xvd*",       "/dev/nvme*",
    "/dev/mmcblk*",  "/dev/dm-*",       "/dev/md[0-9]*", "/dev/loop[0-9]*", "/dev/nbd*",
    "/dev/sr[0-9]*", "/dev/zram*",      "/dev/ram*",     "/dev/mapper/*",   "/dev/disk/*/*",
    "/dev/md/*",     "/dev/block/*",    "/dev/mem",      "/dev/kmem",       "/dev/port",
    "/dev/rdisk*",   "/dev/disk[0-9]*", "/dev/pmem*",    "/dev/mtd*",       "/dev/*-vg/*",
};

static const struct watched {
    const char *pattern;
    enum path_kind bit;
    bool below; /* also whatever is below it */
} watched[] = {
    {"/etc/passwd*", PATH_ACCOUNTS, false},
    {"/etc/shadow*", PATH_ACCOUNTS, false},
    {"/etc/group*", PATH_ACCOUNTS, false},
    {"/etc/gshadow*", PATH_ACCOUNTS, false},
    {"/etc/sudoers", PATH_ACCOUNTS, false},
    {"/etc/sudoers.d", PATH_ACCOUNTS, true},
    {"/etc/doas.conf", PATH_ACCOUNTS, false},
    {"/etc/pam.d", PATH_ACCOUNTS, true},
    {"/etc/security", PATH_ACCOUNTS, true},
    {"/etc/polkit-1", PATH_ACCOUNTS, true},
    {"/etc/ssh", PATH_KEYS, true},
    {"/home/*/.ssh", PATH_KEYS, true},
    {"/root/.ssh", PATH_KEYS, true},
    {"/etc/rein", PATH_POLICY, true},
    {"/etc/cron*", PATH_SCHEDULE, true},
    {"/etc/anacrontab", PATH_SCHEDULE, false},
    {"/var/spool/cron", PATH_SCHEDULE, true},
    {"/etc/systemd", PATH_SCHEDULE, true},
    {"/lib/systemd", PATH_SCHEDULE, true},
    {"/usr/lib/systemd", PATH_SCHEDULE, true},
    {"/run/systemd", PATH_SCHEDULE, true},
    {"/etc/init.d", PATH_SCHEDULE, true},
    {"/etc/rc*", PATH_SCHEDULE, true},
    {"/etc/profile*", PATH_SCHEDULE, true},
    {"/etc/bash.bashrc", PATH_SCHEDULE, false},
    {"/etc/ld.so.*", PATH_BOOT, true},
    {"/boot", PATH_BOOT, true},
    {"/lib/modules", PATH_BOOT, true},
    {"/usr/lib/modules", PATH_BOOT, true},
    {"/etc/modprobe.d", PATH_BOOT, true},
    {"/etc/modules*", PATH_BOOT, true},
    {"/etc/fstab", PATH_BOOT, false},
    {"/etc/default/grub", PATH_BOOT, false},
    {"/sys/firmware", PATH_BOOT, true},
    {"/proc/sys", PATH_BOOT, true},
    {"/proc/sysrq-trigger", PATH_SYSRQ, false},
    {"/var/log", PATH_LOGS, true},
    {"/dev/tcp", PATH_NETWORK, true},
    {"/dev/udp", PATH_NETWORK, true},
};

/* The same for what is in a home, wherever that is. */
static const struct watched watched_at_home[] = {
    {"/.ssh", PATH_KEYS, true},
    {"/.gnupg", PATH_KEYS, true},
    {"/.config/rein", PATH_POLICY, true},
    {"/.local/state/rein", PATH_POLICY, true},
    {"/.config/systemd", PATH_SCHEDULE, true},
    {"/.config/autostart", PATH_SCHEDULE, true},
    {"/.bashrc", PATH_STARTUP, false},
    {"/.bash_*", PATH_STARTUP, false},
    {"/.profile", PATH_STARTUP, false},
    {"/.zshrc", PATH_STARTUP, false},
    {"/.zshenv", PATH_STARTUP, false},
    {"/.zprofile", PATH_STARTUP, false},
    {"/.gitconfig", PATH_STARTUP, false},
};

/* ---- patterns ----------------------------------------------------------------------------- */

/* The length of a "[…]" at pattern, and whether it holds c; 0 where the bracket is only itself. */
static size_t match_bracket(const char *pattern, size_t len, char c, bool *ret_holds)
{
    size_t i = 1;
    bool negated = i < len && (pattern[i] == '!' || pattern[i] == '^');
    bool holds = false;

    i += negated;
    for (size_t first = i; i < len && (pattern[i] != ']' || i == first); i++) {
        bool range = i + 2 < len && pattern[i + 1] == '-' && pattern[i + 2] != ']';

        if (range ? c >= pattern[i] && c <= pattern[i + 2] : c == pattern[i])
            holds = true;
        i += range ? 2 : 0;
    }
    if (i >= len)
        return 0;
    *ret_holds = holds != negated;
    return i + 1;
}

/* How much of the pattern's first item fits c; 0 when it does not. A "*" is not for this. */
static size_t match_item(const char *pattern, size_t len, char c)
{
    bool holds = false;
    size_t n;

    if (*pattern == '?')
        return 1;
    n = *pattern == '[' ? match_bracket(pattern, len, c, &holds) : 0;
    if (n > 0)
        return holds ? n : 0;
    return *pattern == c ? 1 : 0;
}

/* Only the last "*" is ever taken up again: what an earlier one could take, the last can too. */
bool glob_match(const char *pattern, size_t pattern_len, const char *name, size_t name_len)
{
    size_t p = 0, n = 0, star = SIZE_MAX, star_name = 0;

    while (n < name_len) {
        size_t item = 0;

        if (p < pattern_len && pattern[p] == '*') {
            star = p++;
            star_name = n;
            continue;
        }
        if (p < pattern_len)
            item = match_item(pattern + p, pattern_len - p, name[n]);
        if (item > 0) {
            p += item;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++star_name;
        } else {
            return false;
        }
    }
    while (p < pattern_len && pattern[p] == '*')
        p++;
    return p == pattern_len;
}

static size_t component_length(const char *path)
{
    return strcspn(path, "/");
}

/* Component by component, so that no "*" takes a slash. below: the path may go on. */
static bool path_match(const char *pattern, const char *path, bool below)
{
    while (*pattern == '/' && *path == '/') {
        size_t n = component_length(++pattern), m = component_length(++path);

        if (!glob_match(pattern, n, path, m))
            return false;
        pattern += n;
        path += m;
    }
    return *pattern == '\0' && (below || *path == '\0');
}

/* Each of two may be the pattern: the table's, or the command's own. */
static bool same_place(const char *path, bool glob, const char *known)
{
    return path_match(known, path, false) || (glob && path_match(path, known, false));
}

static bool is_one_of(const char *path, bool glob, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (same_place(path, glob, list[i]))
            return true;
    return false;
}

/* ---- resolving ---------------------------------------------------------------------------- */

static void drop_component(struct path *path)
{
    while (path->len > 0 && path->text[--path->len] != '/')
        ;
    path->text[path->len] = '\0';
}

/* There is room: each component was one of a text that is short enough. */
static void add_component(struct path *path, const char *component, size_t len)
{
    path->text[path->len++] = '/';
    memcpy(path->text + path->len, component, len);
    path->len += len;
    path->text[path->len] = '\0';
}

static void add_components(struct path *path, const char *text)
{
    while (*text) {
        size_t n = component_length(text);

        if (n == 2 && text[0] == '.' && text[1] == '.')
            drop_component(path);
        else if (n > 1 || (n == 1 && *text != '.'))
            add_component(path, text, n);
        text += n;
        text += *text == '/';
    }
}

bool path_resolve(struct path *ret, const char *cwd, const char *text)
{
    ret->len = 0;
    ret->text[0] = '\0';
    if (strlen(text) >= PATH_TEXT_MAX || (cwd && strlen(cwd) >= PATH_TEXT_MAX))
        return false;
    if (*text != '/')
        add_components(ret, cwd ? cwd : NO_CWD);
    add_components(ret, text);
    if (ret->len == 0)
        add_component(ret, "", 0);
    return ret->len < PATH_TEXT_MAX;
}

/* Other names that the kernel gives the root and the working directory. */
static const char *without_alias(const char *text)
{
    static const char *const roots[] = {"/proc/self/root", "/proc/1/root",
                                        "/proc/thread-self/root"};
    static const char cwd[] = "/proc/self/cwd";

    for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
        size_t n = strlen(roots[i]);

        if (strncmp(text, roots[i], n) == 0 && (text[n] == '/' || text[n] == '\0'))
            return text[n] ? text + n : "/";
    }
    if (strncmp(text, cwd, strlen(cwd)) == 0 && strchr("/", text[strlen(cwd)]))
        return text[strlen(cwd)] ? text + strlen(cwd) + 1 : ".";
    return text;
}

static bool has_parent_component(const char *text)
{
    for (; *text; text += *text == '/') {
        size_t n = component_length(text);

        if (n == 2 && text[0] == '.' && text[1] == '.')
            return true;
        text += n;
    }
    return false;
}

/* ---- places ------------------------------------------------------------------------------- */

/* A last component that takes all names, or all hidden ones. */
static bool takes_everything(const char *component)
{
    return strchr(component, '*') && component[strspn(component, "*?.[]!^")] == '\0';
}

/* Takes such components off the end. */
static bool strip_everything(struct path *path)
{
    bool stripped = false;

    while (takes_everything(strrchr(path->text, '/') + 1)) {
        drop_component(path);
        if (path->len == 0)
            add_component(path, "", 0);
        stripped = true;
    }
    return stripped;
}

static bool is_below(const char *path, const char *top)
{
    size_t n = strcmp(top, "/") == 0 ? 0 : strlen(top);

    return strncmp(path, top, n) == 0 && path[n] == '/' && path[n + 1];
}

/* The working directory, or one above it; a pattern may fit any of them. */
static bool holds_cwd(const char *path, bool glob, const char *base)
{
    return path_match(path, base, true) && (glob || is_below(base, path) || !strcmp(base, path));
}

static bool is_home(const struct path_place *place, const char *path, bool glob)
{
    return (place->home && strcmp(place->home, "/") != 0 && same_place(path, glob, place->home)) ||
           is_one_of(path, glob, home_directories, ARRAY_SIZE(home_directories));
}

static bool is_in_system(const char *path)
{
    bool in_system = false;

    for (size_t i = 0; i < ARRAY_SIZE(data_directories); i++)
        if (is_below(path, data_directories[i]))
            return false;
    for (size_t i = 0; i < ARRAY_SIZE(system_directories); i++)
        in_system |= is_below(path, system_directories[i]);
    return in_system;
}

static enum path_kind
judge_everything(const struct path_place *place, const char *base, const char *parent)
{
    bool glob = strpbrk(parent, "*?[") != NULL;

    if (strcmp(parent, "/") == 0)
        return PATH_ROOT;
    if (strcmp(parent, base) == 0)
        return is_home(place, parent, glob) ? PATH_HOME : PATH_CWD_ALL;
    if (holds_cwd(parent, glob, base))
        return PATH_CWD;
    if (is_home(place, parent, glob))
        return PATH_HOME;
    if (is_one_of(parent, glob, scratch_directories, ARRAY_SIZE(scratch_directories)))
        return PATH_OUTSIDE;
    if (is_one_of(parent, glob, system_directories, ARRAY_SIZE(system_directories)))
        return PATH_SYSTEM;
    return 0;
}

static enum path_kind
judge_place(const struct path_place *place, const char *base, const char *path, bool glob)
{
    if (strcmp(path, "/") == 0)
        return PATH_ROOT;
    if (is_one_of(path, false, no_files, ARRAY_SIZE(no_files)))
        return PATH_NOWHERE;
    if (is_one_of(path, glob, disks, ARRAY_SIZE(disks)))
        return PATH_DISK;
    if (is_one_of(path, glob, system_directories, ARRAY_SIZE(system_directories)))
        return PATH_SYSTEM;
    if (holds_cwd(path, glob, base))
        return PATH_CWD;
    if (is_below(path, base))
        return PATH_INSIDE;
    if (is_home(place, path, glob))
        return PATH_HOME;
    return is_in_system(path) ? PATH_IN_SYSTEM : PATH_OUTSIDE;
}

static unsigned judge_what(const char *path, const struct watched *list, size_t n)
{
    unsigned bits = 0;

    for (size_t i = 0; i < n; i++)
        if (path_match(list[i].pattern, path, list[i].below))
            bits |= list[i].bit;
    return bits;
}

static unsigned judge_at_home(const struct path_place *place, const char *path)
{
    if (!place->home || !is_below(path, place->home))
        return 0;
    return judge_what(path + strlen(place->home), watched_at_home, ARRAY_SIZE(watched_at_home));
}

unsigned path_judge(const struct path_place *place, const char *text, bool glob)
{
    struct path path = {0}, base = {0};
    unsigned what, where = 0;
    bool up;

    text = without_alias(text);
    up = has_parent_component(text);
    if (!path_resolve(&path, place->base && !place->cwd ? NULL : place->cwd, text) ||
        !path_resolve(&base, NULL, place->base ? place->base : NO_CWD))
        return PATH_UNKNOWN;
    if (*text != '/' && place->base && !place->cwd)
        return PATH_UNKNOWN;
    what = judge_what(path.text, watched, ARRAY_SIZE(watched)) | judge_at_home(place, path.text);
    if (glob && strip_everything(&path))
        where = judge_everything(place, base.text, path.text);
    if (where == 0)
        where = judge_place(place, base.text, path.text, glob);
    if (where == PATH_INSIDE && up)
        where = PATH_OUTSIDE;
    return where | what;
}
