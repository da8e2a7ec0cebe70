import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandContext } from "#shared/client/context.ts";
import { describeError } from "#shared/error-code.ts";

/** Returns the content of a file; null after a line that says why it cannot be read. */
export function readInputFile({ directory, complain }: CommandContext, file: string): Buffer | null {
  try {
    return readFileSync(resolve(directory, file));
  } catch (error) {
    complain(`vantage: ${file} cannot be read (${describeError(error)})`);
    return null;
  }
}

/** Returns the secret in the first line of a file; null after a line that says why there is none. */
export function readSecretFile(context: CommandContext, file: string): string | null {
  const secret = readInputFile(context, file)?.toString("utf8").split("\n", 1)[0]?.trim();
  if (secret === undefined) return null;
  if (secret !== "") return secret;
  context.complain(`vantage: ${file} has no secret in its first line`);
  return null;
}
