#include "config-path.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Asks the user data base, which is slow, only without $HOME. */
static const char *find_home(void)
{
    const char *home = getenv("HOME");
    const struct passwd *user;

    if (home && home[0] != '\0')
        return home;
    user = getpwuid(getuid());
    return user ? user->pw_dir : NULL;
}

char *config_user_file(void)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home;
    char *path = NULL;
    int r = -1;

    if (config && config[0] == '/')
        r = asprintf(&path, "%s/rein/config.ini", config);
    else if ((home = find_home()))
        r = asprintf(&path, "%s/.config/rein/config.ini", home);
    return r < 0 ? NULL : path;
}
