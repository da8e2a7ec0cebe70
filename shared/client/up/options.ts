import type { Settings } from "#shared/settings.ts";
import type { Environment } from "#shared/settings-parse.ts";
import type { Database } from "#shared/client/up/database.ts";
import type { ProcessTable } from "#shared/client/up/process-table.ts";

/** One all-in-one start. */
export interface UpOptions {
  readonly environment: Environment;
  /** What a relative data directory is relative to. */
  readonly directory: string;
  /** The programs to run. */
  readonly entries: { readonly controlPlane: string; readonly agent: string };
  /** Prints for a person. */
  readonly say: (text: string) => void;
  /** Prints the one line of a problem. */
  readonly complain: (line: string) => void;
  /** Asks for the end. */
  readonly stop: AbortSignal;
}

/** What has been started, in order: undone from its end. */
export type Undo = (() => Promise<void>)[];

/** What stands when the processes start. */
export interface Ground extends UpOptions {
  readonly settings: Settings;
  /** Read for the agent: what only it takes is checked here. */
  readonly agentSettings: Settings;
  readonly dataDirectory: string;
  readonly processes: ProcessTable;
  readonly database: Database;
}
