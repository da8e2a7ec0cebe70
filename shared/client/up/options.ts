import type { Settings } from "#shared/settings/settings.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";
import type { Database } from "#shared/client/up/database.ts";
import type { ProcessTable } from "#shared/client/up/process-table.ts";

/** Options of an all-in-one start. */
export interface UpOptions {
  readonly environment: Environment;
  /** The base of a relative data directory. */
  readonly directory: string;
  /** The programs to run. */
  readonly entries: { readonly controlPlane: string; readonly agent: string };
  /** Prints text on the terminal. */
  readonly say: (text: string) => void;
  /** Whether this text is seen, and stored nowhere. */
  readonly isTerminal: boolean;
  /** Prints the line of a problem. */
  readonly complain: (line: string) => void;
  /** Aborted to stop everything. */
  readonly stop: AbortSignal;
}

/** Functions that stop what was started, in start order; called in reverse order. */
export type Undo = (() => Promise<void>)[];

/** What is ready before the processes start. */
export interface Ground extends UpOptions {
  readonly settings: Settings;
  /** Settings as the agent reads them, with the checks that apply to agents only. */
  readonly agentSettings: Settings;
  readonly dataDirectory: string;
  readonly processes: ProcessTable;
  readonly database: Database;
}
