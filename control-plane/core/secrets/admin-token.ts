import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { hasErrorCode } from "#shared/contracts/error-code.ts";
import type { Random } from "#shared/time/clock.ts";
import { makeDirectory } from "#shared/process/directory.ts";

/**
 * Returns the operator's bearer token: the configured one, or that of `<data dir>/admin-token` (0600), created at the
 * first start.
 */
export function readAdminToken(configured: string | null, dataDir: string, random: Random): string {
  if (configured !== null) return configured;
  const file = join(dataDir, "admin-token");
  try {
    const kept = readFileSync(file, "utf8").trim();
    if (kept.length >= 32) return kept;
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT")) throw error;
  }
  makeDirectory(resolve(dataDir));
  const token = Buffer.from(random.bytes(32)).toString("base64url");
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}
