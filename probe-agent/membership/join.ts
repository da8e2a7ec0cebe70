import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { backoffDelayMs } from "#shared/backoff.ts";
import type { Random } from "#shared/clock.ts";
import { makeCertificateRequest } from "#probe-agent/membership/certificate-request.ts";
import { enroll } from "#probe-agent/membership/enroll.ts";
import type { Identity } from "#probe-agent/membership/identity.ts";
import type { JoinToken } from "#probe-agent/membership/join-token.ts";

/** The first retry waits 0.5 to 1 s, later ones at most 15 s. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000 };

/** An identity, or an error line for the operator. */
type Joined = { readonly ok: true; readonly identity: Identity } | { readonly ok: false; readonly line: string };

/** Options for joining. */
interface JoinOptions {
  /** VANTAGE_CONTROL_PLANE. Tried in turn. */
  readonly addresses: readonly string[];
  readonly token: JoinToken;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Enrols with the token and retries until a control plane is reachable. Ends without an identity once every address has
 * given an answer that a retry does not change.
 */
export async function joinControlPlane({ addresses, token, random, log }: JoinOptions): Promise<Joined> {
  // The same key for all attempts: after a lost response the next attempt gets the same agent's certificate.
  const request = await makeCertificateRequest();
  for (let failures = 1; ; failures += 1) {
    const refusals: string[] = [];
    for (const address of addresses) {
      const enrolment = await enroll(address, token, request);
      if (enrolment.ok) {
        log.info({ agent: enrolment.identity.agentId, controlPlane: address }, "enrolled");
        return enrolment;
      }
      const { retry, detail } = enrolment;
      if (!retry) refusals.push(`${address}: ${detail}`);
      log.warn({ controlPlane: address, detail, retry }, "not enrolled");
    }
    if (refusals.length === addresses.length) {
      return { ok: false, line: `the join token was refused. ${refusals.join("; ")}` };
    }
    await sleep(backoffDelayMs(BACKOFF, failures, random));
  }
}
