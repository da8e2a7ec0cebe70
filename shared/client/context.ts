import type { Writable } from "node:stream";
import type { Input } from "#shared/client/input.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

/** Standard output of a command. */
interface Output {
  readonly isTerminal: boolean;
  /** Columns of the terminal; null if it is none. */
  readonly columns: number | null;
  /** Prints text and a line end as they are: with styles, and with hidden characters already shown as escapes. */
  readonly write: (text: string) => void;
}

/** Inputs and outputs of a command, from main.ts. */
export interface CommandContext {
  readonly environment: Environment;
  /** The working directory of the caller. */
  readonly directory: string;
  /** The host's clock. */
  readonly now: () => Date;
  /** Prints text and a line end on standard output. */
  readonly say: (text: string) => void;
  /** Prints one line on standard error. */
  readonly complain: (line: string) => void;
  /** Sets the exit status. */
  readonly exit: (status: number) => void;
  readonly input: Input;
  readonly output: Output;
  /** Standard output and standard error, for bytes that are passed on unchanged. */
  readonly stdout: Writable;
  readonly stderr: Writable;
}
