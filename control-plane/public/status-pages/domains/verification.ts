import type { Static } from "typebox";
import { dns } from "#shared/tools/dns/contract.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { hasErrorCode } from "#shared/contracts/error-code.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import type { App } from "#control-plane/core/app.ts";
import { UNIQUE_VIOLATION } from "#control-plane/core/database/codes.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { logFailure } from "#control-plane/core/database/upkeep.ts";
import { startClaimedWork } from "#control-plane/checks/jobs/claimed-work.ts";
import { notePageChanged } from "#control-plane/core/page-changes.ts";
import {
  decideClaim,
  decideVerified,
  GONE_MS,
  HELD_MS,
  readLook,
  recordOf,
} from "#control-plane/public/status-pages/domains/record.ts";
import {
  claimDomains,
  deleteReleases,
  findHolder,
  findRelease,
  lockDomain,
  postponeDomain,
  settleDomain,
  takeDomain,
  type ClaimedDomain,
} from "#control-plane/public/status-pages/domains/store.ts";

/** Verifies the domains of pages, at one replica. */
interface Verification {
  /** Begins no further look-ups, and gives back those that are running: another replica repeats them. */
  stop(): Promise<void>;
}

/** Time between two searches for domains that are due, in milliseconds. */
const EVERY_MS = 1_000;
/** Time after which another replica asks again, in milliseconds: longer than a look-up takes. */
const LEASE_MS = 60_000;
/** Time after which a look is tried again for which no probe was free, in milliseconds. */
const POSTPONED_MS = 15_000;
/** Maximum number of look-ups at the same time. */
const MOST_AT_ONCE = 10;
const NAME = "status pages: verification of domains";

/**
 * Starts to ask for the records of domains, of verified ones daily. The look-ups are jobs of shared probes: private ones
 * belong to accounts, which could make theirs say anything, and this process looks up no names that users give.
 */
export function startVerification({
  sql,
  checks,
  clock,
  log,
  timers,
}: Pick<App, "sql" | "clock" | "log" | "timers"> & { readonly checks: CheckContext }): Verification {
  async function look(claimed: ClaimedDomain, stopping: AbortSignal): Promise<void> {
    const record = recordOf(claimed.domain, claimed.token);
    const answer = await ask(checks, record.name, stopping);
    const now = clock.now();
    if (answer.kind === "unasked") return postponeDomain(sql, claimed, new Date(now.getTime() + POSTPONED_MS));
    const seen = readLook(answer.result, record);
    try {
      await transact(sql, async (tx) => {
        if (!(await lockDomain(tx, claimed))) return;
        if (claimed.state === "verified") {
          return settleDomain(tx, claimed, decideVerified(seen, claimed.missingSince, now));
        }
        const former = seen === "found" ? await freeDomain(tx, claimed, answer.result, now) : null;
        const after = decideClaim(seen, former !== null, claimed.claimedAt, now);
        await settleDomain(tx, claimed, after);
        if (after.state !== "verified") return;
        for (const accountId of [claimed.accountId, ...(former ?? [])]) await notePageChanged(tx, accountId);
      });
    } catch (error) {
      // Another page took the domain meanwhile: it is asked for again when the lease ends.
      if (!hasErrorCode(error, UNIQUE_VIOLATION)) throw error;
    }
  }

  async function claim(room: number): Promise<{ pieces: readonly ClaimedDomain[]; isMore: boolean }> {
    const now = clock.now();
    await deleteReleases(sql, new Date(now.getTime() - HELD_MS));
    // Without a shared probe at this replica the domains are left to others.
    const isServed = checks.hub.roster.candidates(null).list.some(({ online }) => online);
    if (!isServed || room === 0) return { pieces: [], isMore: false };
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const pieces = await claimDomains(sql, { now, leaseEndsAt, most: room });
    return { pieces, isMore: pieces.length === room };
  }

  const looks = startClaimedWork({
    name: NAME,
    log,
    timers,
    most: MOST_AT_ONCE,
    lookMs: EVERY_MS,
    claim,
    work: look,
    // The domain is asked for again when the lease ends.
    onError: (error) => logFailure(log, NAME, error),
  });
  return { stop: () => looks.stop(0) };
}

/**
 * Frees a domain for a claim whose record stands. Returns the accounts whose page loses it: none if nobody has it; null if
 * another page keeps it. All records have one name, so that the answer shows that of the other page too.
 */
async function freeDomain(
  tx: Transaction,
  claimed: ClaimedDomain,
  found: Static<typeof dns.result> | null,
  now: Date,
): Promise<readonly number[] | null> {
  if ((await findRelease(tx, claimed, new Date(now.getTime() - HELD_MS))) !== null) return null;
  const holder = await findHolder(tx, claimed);
  if (holder === null) return [];
  if (readLook(found, recordOf(claimed.domain, holder.token)) !== "missing") return null;
  const former = await takeDomain(tx, claimed, { goneSince: new Date(now.getTime() - GONE_MS), askAt: now });
  return former === null ? null : [former];
}

/** What a probe found; `result` is null if the look-up itself failed. */
type Asked =
  | { readonly kind: "asked"; readonly result: Static<typeof dns.result> | null }
  /** No probe could look, or the replica stops. */
  | { readonly kind: "unasked" };

/** Asks one shared probe for the TXT records of a name. */
async function ask(checks: CheckContext, name: string, signal: AbortSignal): Promise<Asked> {
  const parsed = parseToolParams(dns, { domain: name, types: "TXT" }, { from: "json", unknown: "refuse" });
  if (!parsed.ok) return { kind: "asked", result: null };
  const answer = await runCheck(checks, {
    contract: dns,
    params: parsed.value,
    accountId: null,
    locations: null,
    maxLocations: 1,
    pace: "paced",
    signal,
  });
  if (answer.kind === "unavailable" || answer.kind === "cancelled") return { kind: "unasked" };
  const isKnown = answer.kind === "single" && answer.outcome.status === "ok";
  return { kind: "asked", result: isKnown ? (answer.outcome.data as Static<typeof dns.result>) : null };
}
