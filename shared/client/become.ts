import { flushCompileCache } from "node:module";
import type { Environment } from "#shared/settings/settings-parse.ts";

/** Makes this process another program, so that no second one waits beside it. Returns where the system cannot do that. */
export function become(entry: string, words: readonly string[], environment: Environment): void {
  // Node says that execve is experimental.
  process.removeAllListeners("warning");
  flushCompileCache();
  process.execve?.(process.execPath, [process.execPath, entry, ...words], { ...environment });
}
