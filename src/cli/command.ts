/** Where a command reads and writes. Data goes to stdout, messages for people to stderr. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WriteStream;
}

/** What a command leaves behind: 0 done, 1 failed, 2 wrong usage or configuration. */
export type ExitStatus = 0 | 1 | 2;

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** All of `--help`, ending in a newline. */
  help(): string;
  /** Throws UsageError, ConfigError, StoreError, ListenError or CommandFailed; any other error is a defect. */
  run(args: readonly string[], io: CommandIo): Promise<ExitStatus>;
}

/** The command could not do its work; the message is one line that says why. Exit status 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}
