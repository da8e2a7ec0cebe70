import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandContext } from "#shared/client/context.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** Standard input or output as a file. */
export const STDIN = "-";

/** Reads a file, or standard input, of at most `most` bytes. */
export async function readBounded(
  { directory, input }: Pick<CommandContext, "directory" | "input">,
  file: string,
  most: number,
): Promise<{ readonly ok: true; readonly value: Uint8Array } | { readonly ok: false; readonly line: string }> {
  try {
    const value = file === STDIN ? await input.read() : readUpTo(resolve(directory, file), most + 1);
    if (value.length <= most) return { ok: true, value };
    return { ok: false, line: `${file} is larger than ${most / 1024 / 1024} MB` };
  } catch (error) {
    return { ok: false, line: `${file} cannot be read (${describeError(error)})` };
  }
}

/** Reads the beginning of a file, which can be a device without an end. Throws if it cannot be read. */
export function readUpTo(path: string, most: number): Buffer {
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(most);
    let length = 0;
    for (let read = 1; read > 0 && length < most; length += read) {
      read = readSync(descriptor, buffer, length, most - length, null);
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

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
