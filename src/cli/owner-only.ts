/** The umask of commands that write to DATA_DIR: nobody but the owner reads the events, keys and tokens in it. */
export const OWNER_ONLY = 0o077;
