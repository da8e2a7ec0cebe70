import { createHash, webcrypto } from "node:crypto";
import { Counter, type Registry } from "prom-client";
import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import { DatabaseAway } from "#control-plane/database/database-away.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { Enrolment, Issuance, NotIssued } from "#control-plane/dispatch/security.ts";
import { createAddressLimiter } from "#control-plane/limits/address.ts";
import { MAX_REQUEST_BYTES, readRequest, type Authority, type RequestedKey } from "#control-plane/probes/authority.ts";
import { isTokenLive, redeemToken, renewProbe } from "#control-plane/probes/store.ts";
import { readToken } from "#control-plane/probes/tokens.ts";

/** How a call for a certificate ended; the operator's word in log and metric, finer than what the caller hears. */
type Result =
  | "enrolled"
  | "renewed"
  | "token_malformed"
  | "token_foreign"
  | "token_unknown"
  | "token_used"
  | "token_expired"
  | "certificate"
  | "request"
  | "limited"
  | "away"
  | "error";

/** What enrolment stands on. */
interface EnrolmentDeps {
  readonly authority: Authority;
  readonly database: GuardedDatabase;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
}

// Guessing a token of 256 bits is hopeless; the limit keeps strangers from making us read and log without end.
const FAILURES_PER_MINUTE = 30;

// One text for tokens that never were, are used up or too old: a stranger learns nothing from it.
const BAD_TOKEN: NotIssued = {
  fault: "identity",
  message:
    "the join token is not valid: it is unknown to this control plane, already used or expired; create a new one",
};
const BAD_REQUEST: NotIssued = {
  fault: "request",
  message: `certificate_request must be a PKCS #10 request (DER, at most ${MAX_REQUEST_BYTES} octets) for a P-256 key, signed by it`,
};
const BAD_CERTIFICATE: NotIssued = {
  fault: "identity",
  message:
    "renewal needs the agent's own client certificate, and it must not be expired, revoked or replaced; else enrol the agent again with a new join token",
};
const LIMITED: NotIssued = { fault: "limit", message: "too many failed attempts; wait a minute" };
const OVER_LIMIT: Attempt = { result: "limited", answer: LIMITED };
const AWAY: NotIssued = { fault: "away", message: "the control plane cannot reach its database; try again" };

/** Hands out certificates for tokens and for certificates. */
export function createEnrolment(deps: EnrolmentDeps): Enrolment {
  const { authority, database, clock, random, log, registry } = deps;
  const failures = createAddressLimiter({ clock, limit: FAILURES_PER_MINUTE, windowSeconds: 60 });
  const enrolments = new Counter({
    name: "vantage_enrolments_total",
    help: "Certificate requests of agents, by result",
    labelNames: ["result"],
    registers: [registry],
  });

  /**
   * `caller` is whom failures are counted against: an address, or an agent that has proved who it is. `work` learns
   * whether it has failed too often in this minute.
   */
  async function attempt(
    peer: string,
    caller: string,
    work: (isExhausted: boolean) => Promise<Attempt>,
  ): Promise<Issuance> {
    let ended: Attempt;
    try {
      ended = await work(failures.isExhausted(caller));
    } catch (error) {
      const isAway = error instanceof DatabaseAway;
      if (!isAway) log.error({ err: error, peer }, "enrolment failed");
      ended = { result: isAway ? "away" : "error", answer: AWAY };
    }
    const { result, answer } = ended;
    enrolments.inc({ result });
    if ("certificate" in answer) {
      log.info({ agent: answer.agentId, peer, result }, "agent certificate issued");
      const timeMs = clock.now().getTime();
      return { ok: true, issued: { ...answer, caCertificate: authority.certificate, timeMs } };
    }
    if (answer.fault !== "away" && answer.fault !== "limit") failures.take(caller);
    // Whoever is over the limit is counted, not logged: the log must not grow at a stranger's will.
    if (answer.fault !== "limit") log.warn({ peer, result }, "agent certificate refused");
    return { ok: false, ...answer };
  }

  return {
    enroll: (presented, request, peer) =>
      attempt(peer, peer, async (isExhausted) => {
        const token = readToken(presented);
        const isOurs = token?.fingerprint === authority.fingerprint;
        // A good token always opens, or a stranger behind the same address could keep agents out.
        if (isExhausted && !(isOurs && (await database.run((sql) => isTokenLive(sql, token.digest, clock.now()))))) {
          return OVER_LIMIT;
        }
        if (token === null) return { result: "token_malformed", answer: BAD_TOKEN };
        if (!isOurs) return { result: "token_foreign", answer: BAD_TOKEN };
        // Before the token is spent.
        const key = await readRequest(request);
        if (key === null) return { result: "request", answer: BAD_REQUEST };
        const planned = authority.plan();
        const enrolledBy = await digestOf(token.digest, key);
        const probe = { ...planned, enrolledBy, suffix: Buffer.from(random.bytes(6)).toString("hex") };
        const redeemed = await database.run((sql) => redeemToken(sql, token.digest, probe, clock.now()));
        if (!redeemed.ok) return { result: `token_${redeemed.reason}`, answer: BAD_TOKEN };
        const { agentId } = redeemed;
        return {
          result: "enrolled",
          answer: { agentId, certificate: await authority.issueClient({ ...planned, agentId }, key) },
        };
      }),
    renew: (shown, request, peer) => {
      const holder = shown === null ? null : authority.identify(shown);
      return attempt(peer, holder?.agentId ?? peer, async (isExhausted) => {
        if (isExhausted) return OVER_LIMIT;
        if (holder === null || holder.notAfter <= clock.now())
          return { result: "certificate", answer: BAD_CERTIFICATE };
        const key = await readRequest(request);
        if (key === null) return { result: "request", answer: BAD_REQUEST };
        const next = authority.plan();
        const renewed = await database.run((sql) => renewProbe(sql, holder, next));
        if (!renewed) return { result: "certificate", answer: BAD_CERTIFICATE };
        const { agentId } = holder;
        return {
          result: "renewed",
          answer: { agentId, certificate: await authority.issueClient({ ...next, agentId }, key) },
        };
      });
    },
  };
}

interface Attempt {
  readonly result: Result;
  readonly answer: NotIssued | { readonly agentId: string; readonly certificate: Uint8Array };
}

/** Names one agent's use of a token: who asks again with the same key is the same agent. */
async function digestOf(token: Uint8Array, key: RequestedKey): Promise<Uint8Array> {
  const publicKey = await webcrypto.subtle.exportKey("spki", key);
  return createHash("sha256").update(token).update(new Uint8Array(publicKey)).digest();
}
