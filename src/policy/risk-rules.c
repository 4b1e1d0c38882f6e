/* The table. A row's level is what it would be alone; the worst one that holds counts. */
#include "risk-rules.h"

#include <string.h>

#include "base/macro.h"

#define FORBIDDEN RISK_CRITICAL, false, true, false
#define DANGER RISK_HIGH, true, false, false
#define CRITICAL RISK_CRITICAL, false, false, false
#define HIGH RISK_HIGH, false, false, false
#define HIGH_OPAQUE RISK_HIGH, false, false, true
#define MEDIUM RISK_MEDIUM, false, false, false
#define MEDIUM_OPAQUE RISK_MEDIUM, false, false, true

static const struct risk_rule rules[] = {
    /* What no leave lifts. */
    {"recursive-delete-of-root", FORBIDDEN, "it deletes the whole file system", NULL, deletes_root},
    {"recursive-delete-of-home", FORBIDDEN, "it deletes a home directory", NULL, deletes_home},
    {"recursive-delete-of-system", FORBIDDEN, "it deletes a directory that the system needs", NULL,
     deletes_system},
    {"recursive-delete-of-cwd", FORBIDDEN,
     "it deletes the working directory itself, or one that it is in", NULL, deletes_cwd},
    {"disk-overwrite", FORBIDDEN, "it writes over a disk or the machine's memory", NULL,
     overwrites_disk},
    {"format", FORBIDDEN, "it makes a new file system where there is one", NULL, formats},
    {"fork-bomb", FORBIDDEN, "it starts itself again and again without end", NULL, NULL},
    {"sql-drop", FORBIDDEN, "it drops a database, a schema or a table", NULL, drops_by_sql},
    {"shutdown", FORBIDDEN, "it stops the machine", "shutdown reboot halt poweroff", stops_machine},
    {"shutdown-by-init", FORBIDDEN, "it stops the machine", "init telinit kexec",
     stops_machine_by_init},
    {"shutdown-by-systemctl", FORBIDDEN, "it stops the machine", "systemctl loginctl",
     stops_machine_by_systemctl},
    {"shutdown-by-message", FORBIDDEN, "it asks the system to stop the machine",
     "dbus-send busctl gdbus", stops_machine_by_message},
    {"shutdown-by-sysrq", FORBIDDEN, "it writes where one byte stops the machine", NULL,
     triggers_sysrq},
    {"recursive-change-of-system", FORBIDDEN,
     "it changes who may use the system's files, all of them", NULL, changes_system},
    {"answers-itself", FORBIDDEN, "it answers in the place of the person who is to be asked",
     "rein env", answers_itself},

    /* What leave lifts: at most high, so that nobody is asked beside. */
    {"delete-elsewhere", DANGER,
     "it deletes what is not inside the working directory, or all of it", NULL, deletes_elsewhere},
    {"shred", DANGER, "what it deletes cannot be had back", "shred wipe srm", any_use},
    {"raw-copy", DANGER, "it copies bytes to wherever it is told", "dd format", any_use},
    {"disk-tools", DANGER, "it changes how a disk is laid out",
     "fdisk sfdisk sgdisk gdisk cfdisk parted mkswap cryptsetup pvcreate pvremove vgremove "
     "lvremove lvreduce zpool zfs mdadm hdparm nvme wipefs blkdiscard badblocks btrfs",
     lays_out_disk},
    {"permissions", DANGER, "it changes who may use a file",
     "chmod chown chgrp gchmod gchown setfacl chattr", any_use},
    {"signals", DANGER, "it ends processes, of other jobs too",
     "kill killall pkill skill killall5 xkill", any_use},
    {"signals-by-file", DANGER, "it ends processes, of other jobs too", "fuser", kills_by_file},
    {"power", DANGER, "it is about the machine's power", "shutdown reboot halt poweroff", any_use},
    {"privilege", DANGER, "it runs something with another user's rights",
     "sudo su doas pkexec runuser run0 please", any_use},
    {"transfer", DANGER, "it sends data to another machine, or fetches some",
     "curl wget wget2 aria2c axel ssh scp rsync sftp rclone", transfers},
    {"move-or-copy", DANGER, "it may replace what is at its target", "mv cp gmv gcp", any_use},
    {"install-files", DANGER, "it may replace what is at its target", "install ginstall", installs},
    {"clean-work-tree", DANGER, "it deletes files that git does not know", "git", cleans_work_tree},

    /* What should be asked for. */
    {"disk-layout", CRITICAL, "it changes how a disk is laid out",
     "fdisk sfdisk sgdisk gdisk cfdisk parted mkswap cryptsetup pvcreate pvremove vgremove "
     "lvremove lvreduce zpool zfs mdadm hdparm nvme wipefs blkdiscard badblocks btrfs",
     lays_out_disk},
    {"kill-everything", CRITICAL, "it ends every process that it may",
     "kill killall5 pkill killall", kills_everything},
    {"kill-user", CRITICAL, "it ends everything that a user runs", "pkill killall skill loginctl",
     kills_users},
    {"setuid", CRITICAL, "it makes a file run with its owner's rights", "chmod install",
     sets_id_bits},
    {"run-download", CRITICAL, "it runs what it has just downloaded, unseen",
     INTERPRETERS " eval source .", runs_download},
    {"run-download-by-name", CRITICAL, "it runs what it has just downloaded, unseen", NULL,
     runs_download_by_name},
    {"delete-watched", CRITICAL,
     "it deletes accounts, keys, schedules, logs or what the machine starts with", NULL,
     deletes_watched},
    {"move-system", CRITICAL, "it moves away a directory that the system or its users need", NULL,
     moves_system},
    {"write-accounts", CRITICAL, "it changes accounts or what they may do", NULL, writes_accounts},
    {"write-keys", CRITICAL, "it changes who can log in", NULL, writes_keys},
    {"write-policy", CRITICAL, "it changes what this gate goes by", NULL, writes_policy},
    {"write-schedule", CRITICAL, "it makes something run later, by itself", NULL, writes_schedule},
    {"write-boot", CRITICAL, "it changes what the machine starts with", NULL, writes_boot},
    {"write-logs", CRITICAL, "it changes the system's logs", NULL, writes_logs},
    {"users", CRITICAL, "it changes accounts",
     "useradd userdel usermod adduser deluser groupadd groupdel groupmod addgroup delgroup passwd "
     "chpasswd gpasswd visudo vipw chsh newusers",
     any_use},
    {"kernel", CRITICAL, "it changes the running kernel or what it loads",
     "insmod rmmod modprobe sysctl setenforce update-grub grub-install efibootmgr depmod dkms "
     "bpftool",
     any_use},
    {"firewall", CRITICAL, "it changes the firewall",
     "iptables ip6tables nft ufw firewall-cmd iptables-restore", flushes_firewall},
    {"crontab", CRITICAL, "it makes something run later, by itself", "crontab", edits_crontab},
    {"host-in-container", CRITICAL, "it gives a container the rights or the files of the machine",
     "docker podman nerdctl", opens_host},
    {"enter-host", CRITICAL, "it enters the surroundings of another process", "nsenter",
     enters_host},
    {"wipe-history", CRITICAL, "it wipes traces of what was done", "history journalctl",
     wipes_history},
    {"network-shell", CRITICAL, "it lets another machine command this one", NULL, opens_connection},
    {"code-forks", CRITICAL, "its code starts processes in a loop", NULL, code_forks},
    {"destroy-by-tool", CRITICAL, "it destroys what a service holds",
     "terraform tofu pulumi kubectl helm aws gcloud az mysqladmin dropdb dropuser redis-cli "
     "mongosh mongo vagrant virsh",
     destroys_by_tool},
    {"drop-by-option", CRITICAL, "it deletes a whole database", "dropdb mysqladmin",
     drops_by_option},

    /* What is worth a word. */
    {"write-startup", HIGH, "it changes what a person's shells start with", NULL, writes_startup},
    {"write-system", HIGH, "it writes into a directory that the system needs", NULL, writes_system},
    {"mount", HIGH, "it changes what is mounted",
     "mount umount swapoff swapon losetup pivot_root fusermount", any_use},
    {"service", HIGH, "it changes which services run",
     "systemctl service rc-service update-rc.d chkconfig launchctl", switches_service},
    {"discard-work", HIGH, "it throws away work that git holds", "git", discards_work},
    {"push-by-force", HIGH, "it replaces what others see", "git", pushes_by_force},
    {"remove-containers", HIGH, "it deletes containers, images or volumes",
     "docker podman nerdctl docker-compose", removes_containers},
    {"flush-store", HIGH, "it empties a store", "redis-cli memcached-tool etcdctl", flushes_store},
    {"code-deletes", HIGH_OPAQUE, "its code deletes files", NULL, code_deletes},
    {"code-runs-programs", HIGH_OPAQUE, "its code starts other programs", NULL, code_runs},
    {"unknown-program", HIGH_OPAQUE, "which program runs is not known before it does", NULL,
     is_unknown_program},
    {"unknown-script", HIGH_OPAQUE, "what the shell is told is not known before it runs", NULL,
     is_unknown_script},
    {"unread-input", HIGH_OPAQUE, "what it runs comes over its input, unseen", NULL,
     is_unread_input},
    {"remote", HIGH_OPAQUE, "it runs a command on another machine", NULL, is_remote},
    {"unreadable-script", HIGH_OPAQUE, "the script cannot be read to its end", NULL, NULL},
    {"too-much", HIGH_OPAQUE, "there is more of it than is looked at", NULL, NULL},

    {"code", MEDIUM_OPAQUE, "it runs code that is not looked into", NULL, is_code},
    {"packages", MEDIUM, "it installs or removes packages",
     "apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk brew snap flatpak pip pip3 pipx uv "
     "poetry conda mamba npm npx pnpm yarn gem cargo go composer nix-env",
     installs_packages},
    {"publish", MEDIUM, "it publishes something",
     "npm pnpm yarn cargo gem twine docker podman gh poetry uv", publishes},
    {"push", MEDIUM, "it sends commits to others", "git", pushes},
    {"network", MEDIUM, "it talks to other machines",
     "nc ncat netcat socat telnet ftp tftp nmap ping dig nslookup host gh aws gcloud az "
     "s3cmd mail sendmail mutt http https xh lftp rsh",
     talks_to_network},
    {"write-outside", MEDIUM, "it writes outside the working directory", NULL, writes_outside},
    {"write-unknown", MEDIUM, "where it writes is not known before it does", NULL, writes_unknown},
};

const struct risk_rule *risk_rule_at(size_t row)
{
    return row < ARRAY_SIZE(rules) ? &rules[row] : NULL;
}

const struct risk_rule *risk_rule_find(const char *id)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        if (strcmp(rules[i].id, id) == 0)
            return &rules[i];
    return NULL;
}

bool risk_rule_holds(const struct risk_rule *rule, const struct judged *j)
{
    return rule->holds && !j->asks_only && (!rule->programs || program_is(j, rule->programs)) &&
           rule->holds(j);
}
