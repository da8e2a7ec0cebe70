import type { Random } from "#shared/time/clock.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { hasFact, keepFact } from "#control-plane/core/secrets/store.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 12;

/** Makes the id of an installation: 12 letters and digits. */
export function createInstallation(random: Random): string {
  // Four bytes a digit: with one, the first digits would be likelier than the others.
  const bytes = Buffer.from(random.bytes(4 * LENGTH));
  const digits = Array.from({ length: LENGTH }, (_, index) => DIGITS[bytes.readUInt32BE(4 * index) % DIGITS.length]);
  return digits.join("");
}

/**
 * Returns the id of this installation, made once and kept in the database, the same for all replicas. It tells installations
 * apart that send to one provider. It is no secret.
 */
export async function readInstallation(sql: Sql, random: Random): Promise<string> {
  const kept = await keepFact(sql, "installation", Buffer.from(createInstallation(random)));
  return Buffer.from(kept).toString();
}

/** The fact of an installation that was restored as a copy of another one. */
export const COPY_FACT = "copy";

/** Reports whether this installation is a copy of another one, and must not mail the people of that one. */
export function isInstallationCopy(sql: Sql): Promise<boolean> {
  return hasFact(sql, COPY_FACT);
}
