import { createSecureContext } from "node:tls";
import type { CommandContext } from "#shared/client/context.ts";
import { readInputFile } from "#shared/client/input-file.ts";
import type { TlsIdentity } from "#shared/client/listen/server.ts";
import { describeError } from "#shared/error-code.ts";

/** Reads a certificate and its key; null after a line that says why they cannot be used. */
export function readTlsIdentity(context: CommandContext, certFile: string, keyFile: string): TlsIdentity | null {
  const cert = readInputFile(context, certFile);
  const key = readInputFile(context, keyFile);
  if (cert === null || key === null) return null;
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    context.complain(`vantage: ${certFile} and ${keyFile} are no certificate and its key (${describeError(error)})`);
    return null;
  }
}
