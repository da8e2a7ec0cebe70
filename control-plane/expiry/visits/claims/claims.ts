import type { Clock, Random } from "#shared/clock.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { ExpiryKind } from "#control-plane/kinds/expiring.ts";
import {
  claimCertificates,
  claimDomains,
  claimWaiting,
  type ClaimedTarget,
} from "#control-plane/expiry/visits/claims/store.ts";
import { LONGEST_LOOK_MS } from "#control-plane/expiry/visits/look.ts";

/** What claims are made with. */
export interface Claimer {
  readonly kind: ExpiryKind;
  readonly sql: Sql;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** Time beyond the longest look after which another replica visits a target, in milliseconds. */
const LEASE_GRACE_MS = 30_000;
/** How long a notice waits for the question before it while the registry is paused, in milliseconds. */
const NOTICE_WAIT_MS = 3_600_000;
const LEASE_BYTES = 6;

/** Claims at most so many targets of a kind that are due for a visit. */
export async function claimDue({ kind, sql, clock, random }: Claimer, most: number): Promise<readonly ClaimedTarget[]> {
  const options = {
    now: clock.now(),
    most,
    lease: Buffer.from(random.bytes(LEASE_BYTES)).readUIntBE(0, LEASE_BYTES) + 1,
    leaseMs: LONGEST_LOOK_MS + LEASE_GRACE_MS,
  };
  if (kind === "certificate") return claimCertificates(sql, options);
  const asked = await claimDomains(sql, options);
  if (asked.length === most) return asked;
  return [...asked, ...(await claimWaiting(sql, { ...options, most: most - asked.length, waitMs: NOTICE_WAIT_MS }))];
}
