/* Where configuration files are. */
#ifndef REIN_BASE_CONFIG_PATH_H
#define REIN_BASE_CONFIG_PATH_H

#define CONFIG_SYSTEM_FILE "/etc/rein/config.ini"

/* The user's: $XDG_CONFIG_HOME/rein/config.ini, else ~/.config/rein/config.ini. The caller frees
 * it; NULL where there is no home or no memory. */
char *config_user_file(void);

#endif
