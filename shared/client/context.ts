import type { Environment } from "#shared/settings-parse.ts";

/** What a command gets from main.ts. */
export interface CommandContext {
  readonly environment: Environment;
  /** The directory the command was called in. */
  readonly directory: string;
  /** The host's clock. */
  readonly now: () => Date;
  /** Prints for a person or a pipe, a line end after it. */
  readonly say: (text: string) => void;
  /** Prints one line on standard error. */
  readonly complain: (line: string) => void;
  /** The status to end with. */
  readonly exit: (status: number) => void;
}
