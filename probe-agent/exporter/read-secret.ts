import { readFile } from "node:fs/promises";
import { describeError } from "#shared/contracts/error-code.ts";
import type { Secret } from "#shared/blackbox/module.ts";

/** Returns a secret, of a file its content; or why the file cannot be read. The content is never in the message. */
export async function readSecret(secret: Secret): Promise<{ readonly text: string } | { readonly fault: string }> {
  if ("text" in secret) return secret;
  try {
    return { text: await readFile(secret.file, "utf8") };
  } catch (error) {
    return { fault: `unable to read file ${secret.file}: ${describeError(error)}` };
  }
}
