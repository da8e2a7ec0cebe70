import { table } from "#shared/presentation/build.ts";
import type { Table } from "#shared/presentation/presentation.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dkim } from "#shared/tools/dkim/contract.ts";

type Key = ResultOf<typeof dkim>["key"];
type Selector = ResultOf<typeof dkim>["selectors"][number];

/** RFC 8301 section 3.2: RSA keys of signers. */
const SHORT_BITS = 2_048;

/** Writes a key: "RSA, 2048 bits", "Ed25519". Null without a key. */
export function describeDkimKey(key: Key): string | null {
  if (key === null) return null;
  if (key.type === "ed25519") return "Ed25519";
  return key.bits === null ? "RSA" : `RSA, ${key.bits} bits`;
}

/** Reports whether a key is an RSA key that is too short to last. */
export function isShort(key: Key): boolean {
  return key?.type === "rsa" && key.bits !== null && key.bits < SHORT_BITS;
}

/** Lists the keys found with what keeps verifiers from using them; null if there are none. */
export function dkimKeyTable(selectors: readonly Selector[]): Table | null {
  return table(
    "DKIM keys",
    ["Selector", "Key", "Usable", "Used by", "Alias of"],
    selectors.map(
      ({ selector, key, valid, invalid_reason: reason, revoked, testing, used_by: user, cname_target: alias }) => ({
        cells: [
          selector,
          describeDkimKey(key),
          revoked ? "revoked" : !valid ? (reason ?? "no") : testing ? "in test mode" : "yes",
          user,
          alias,
        ],
        tone: revoked ? null : !valid ? "bad" : testing || isShort(key) ? "warning" : null,
      }),
    ),
  );
}
