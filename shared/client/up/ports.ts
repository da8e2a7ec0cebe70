import { createServer } from "node:net";
import { formatAddress, type Address } from "#shared/settings/address.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** Checks that a listener can be opened on this address; the problem's line names the setting. */
export async function checkListener(setting: string, address: Address): Promise<{ ok: true } | Problem> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(address.port, address.host, resolve);
    });
    return { ok: true };
  } catch (error) {
    return problem(`${setting} ${formatAddress(address)} ${explainListenError(error)}`);
  } finally {
    await new Promise((resolve) => {
      server.close(resolve);
    });
  }
}

/** Returns why a listener cannot be opened, as the end of a sentence that starts with its address. */
export function explainListenError(error: unknown): string {
  const reason = describeError(error);
  if (reason === "EADDRINUSE") return "is in use: stop the program that uses it, or set another address";
  if (reason === "EACCES") return "may not be opened by this user: choose a port of 1024 or above";
  if (reason === "EADDRNOTAVAIL" || reason === "ENOTFOUND") return "is not an address of this machine";
  return `cannot be opened (${reason})`;
}
