import { timingSafeEqual } from "node:crypto";
import { hmacOf, kidOf } from "#shared/audit/signature.ts";
import type { SignedExport } from "#shared/audit/read-export.ts";

/** Result of a verification. other_secret: it was signed with another one. changed: it is not what was signed. */
export type Verdict = "valid" | "other_secret" | "changed";

/** Verifies that an export is what the holder of a secret signed. */
export function verifyExport({ payload, sig }: SignedExport, secret: string): Verdict {
  if (sig.kid !== kidOf(secret)) return "other_secret";
  let value: string;
  try {
    value = hmacOf(payload, secret, sig.ts);
  } catch (error) {
    // Half of a surrogate pair, which is never signed.
    if (error instanceof TypeError) return "changed";
    throw error;
  }
  return timingSafeEqual(Buffer.from(value, "hex"), Buffer.from(sig.value, "hex")) ? "valid" : "changed";
}
