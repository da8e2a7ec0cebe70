import { type Registry, Counter } from "prom-client";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { App } from "#control-plane/core/app.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { openAuthorities, openListenerIdentity, type Authorities } from "#control-plane/checks/probes/authorities.ts";
import { createGatekeeper } from "#control-plane/checks/probes/gatekeeper.ts";
import {
  enableProbe,
  exportProbes,
  notifyAccountErased,
  revokeProbe,
  type StoredProbe,
  isTokenLive,
  redeemToken,
  renewProbe,
} from "#control-plane/checks/probes/store.ts";
import { createToken, type CreatedToken, type TokenRequest, parseToken } from "#control-plane/checks/probes/tokens.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import type { Security, Enrolment, Issuance, NotIssued } from "#control-plane/checks/dispatch/security.ts";
import {
  MAX_REQUEST_BYTES,
  parseCertificateRequest,
  type RequestedKey,
} from "#control-plane/checks/probes/authority.ts";
import { createHash, webcrypto } from "node:crypto";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";

/** Enrolled agents: admits them, and lets operators manage them. */
export interface Probes {
  /** The authorities, and how one takes the place of another. */
  readonly authorities: Authorities;
  /** Security of the listener for agents. */
  readonly security: Security;
  /** Creates a join token. Returns null if the account does not exist. */
  createToken(request: TokenRequest): Promise<CreatedToken | null>;
  /** Enables or disables an agent on every replica. Returns null if there is none or it is revoked. */
  enable(id: string, enabled: boolean): Promise<StoredProbe | null>;
  /** Revokes an agent and ends its open streams on every replica. Returns false if there is none. */
  revoke(id: string): Promise<boolean>;
  /** Stops the timers. */
  close(): void;
}

/** Dependencies of enrolment. */
interface ProbesDeps extends Pick<App, "sql" | "clock" | "random" | "log" | "timers"> {
  /** Connection for statements that an agent waits for. */
  readonly gate: GuardedDatabase;
  readonly notifications: Notifications;
  readonly accounts: Accounts;
  readonly encryption: Encryption;
  readonly registry: Registry;
}

/** Opens enrolment on this replica. The first replica of the installation creates the authority. */
export async function openProbes(deps: ProbesDeps): Promise<Probes> {
  const { sql, gate: database, notifications, accounts, encryption, clock, random, log, timers, registry } = deps;
  const authorities = await openAuthorities({ sql, database, notifications, encryption, clock, random, log, timers });
  const identity = await openListenerIdentity(authorities, { clock, log });
  const gatekeeper = createGatekeeper({ authority: authorities, database, notifications, clock });
  const enrolment = createEnrolment({ authorities, database, clock, random, log, registry });
  accounts.onErase(notifyAccountErased);
  accounts.addExporter("probes", exportProbes);
  return {
    authorities,
    security: { gatekeeper, enrolment, identity, authorities: () => authorities.fingerprints() },
    createToken: (request) =>
      createToken(sql, request, { fingerprint: authorities.serving().fingerprint, clock, random }),
    enable: (id, enabled) => enableProbe(sql, id, enabled),
    revoke: (id) => revokeProbe(sql, id, clock.now()),
    close() {
      authorities.close();
      gatekeeper.close();
      identity.close();
    },
  };
}

/** Result of a certificate request, for the operator's log and metric. More detailed than the answer to the caller. */
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

const NONE = new Uint8Array();
// A token of 256 bits cannot be guessed. The limit bounds the reading and logging that a stranger can cause.
const FAILURES_PER_MINUTE = 30;

// One text for tokens that are unknown, used or expired: a stranger learns nothing from it.
const BAD_TOKEN: NotIssued = {
  fault: "identity",
  message:
    "the join token is not valid: it is unknown to this control plane, already used or expired; create a new one",
};
const BAD_REQUEST: NotIssued = {
  fault: "request",
  message:
    `certificate_request must be a PKCS #10 request (DER, at most ${MAX_REQUEST_BYTES} octets) ` +
    "for a P-256 key, signed with that key",
};
const BAD_CERTIFICATE: NotIssued = {
  fault: "identity",
  message:
    "the agent's client certificate is missing, expired, revoked or replaced by a newer one; " +
    "enrol the agent again with a new join token",
};
const LIMITED: NotIssued = { fault: "limit", message: "too many failed attempts; wait a minute" };
const OVER_LIMIT: Attempt = { result: "limited", answer: LIMITED };
const AWAY: NotIssued = { fault: "away", message: "the control plane cannot reach its database; try again" };

/** Creates the service that issues certificates, for a join token or for a valid certificate. */
export function createEnrolment(
  deps: Pick<App, "clock" | "random" | "log"> & {
    readonly authorities: Pick<Authorities, "serving" | "issuing" | "identify">;
    readonly database: GuardedDatabase;
    readonly registry: Registry;
  },
): Enrolment {
  const { authorities, database, clock, random, log, registry } = deps;
  const failures = createAddressLimiter({ clock, limit: FAILURES_PER_MINUTE, windowSeconds: 60 });
  const enrolments = new Counter({
    name: "vantage_enrolments_total",
    help: "Certificate requests of agents, by result",
    labelNames: ["result"],
    registers: [registry],
  });

  /**
   * Runs one request and reports its result. Failures are counted for `caller`: an address, or the id of an agent with
   * a valid certificate. `work` gets whether the caller has failed too often in this minute.
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
      return { ok: true, issued: { ...answer, timeMs: clock.now().getTime() } };
    }
    if (answer.fault !== "away" && answer.fault !== "limit") failures.take(caller);
    // A caller over the limit is counted but not logged, so that a stranger cannot fill the log.
    if (answer.fault !== "limit") log.warn({ peer, result }, "agent certificate refused");
    return { ok: false, ...answer };
  }

  return {
    enroll: (presented, request, peer) =>
      attempt(peer, peer, async (isExhausted) => {
        const token = parseToken(presented);
        const authority = authorities.serving();
        const isOurs = token?.fingerprint === authority.fingerprint;
        // A valid token is always accepted, or a stranger with the same address could lock out agents.
        if (isExhausted && !(isOurs && (await database.run((sql) => isTokenLive(sql, token.digest, clock.now()))))) {
          return OVER_LIMIT;
        }
        if (token === null) return { result: "token_malformed", answer: BAD_TOKEN };
        if (!isOurs) return { result: "token_foreign", answer: BAD_TOKEN };
        // Checked before the token is used up.
        const key = await parseCertificateRequest(request);
        if (key === null) return { result: "request", answer: BAD_REQUEST };
        const planned = authority.plan();
        const enrolledBy = await digestOf(token.digest, key);
        const probe = {
          ...planned,
          authorityId: authority.id,
          enrolledBy,
          suffix: Buffer.from(random.bytes(6)).toString("hex"),
        };
        const redeemed = await database.run((sql) => redeemToken(sql, token.digest, probe, clock.now()));
        if (!redeemed.ok) return { result: `token_${redeemed.reason}`, answer: BAD_TOKEN };
        const { agentId } = redeemed;
        return {
          result: "enrolled",
          answer: {
            agentId,
            certificate: await authority.issueClient({ ...planned, agentId }, key),
            caCertificate: authority.certificate,
            leavingCaCertificate: NONE,
          },
        };
      }),
    renew: (shown, request, peer, follows) => {
      const holder = shown === null ? null : authorities.identify(shown);
      return attempt(peer, holder?.agentId ?? peer, async (isExhausted) => {
        if (isExhausted) return OVER_LIMIT;
        if (holder === null || holder.notAfter <= clock.now())
          return { result: "certificate", answer: BAD_CERTIFICATE };
        const key = await parseCertificateRequest(request);
        if (key === null) return { result: "request", answer: BAD_REQUEST };
        const { authority, leaving } = authorities.issuing(holder.authorityId, follows);
        const next = { ...authority.plan(), authorityId: authority.id };
        const renewed = await database.run((sql) => renewProbe(sql, holder, next));
        if (!renewed) return { result: "certificate", answer: BAD_CERTIFICATE };
        const { agentId } = holder;
        return {
          result: "renewed",
          answer: {
            agentId,
            certificate: await authority.issueClient({ ...next, agentId }, key),
            caCertificate: authority.certificate,
            leavingCaCertificate: leaving?.certificate ?? NONE,
          },
        };
      });
    },
  };
}

interface Attempt {
  readonly result: Result;
  readonly answer: NotIssued | Omit<Extract<Issuance, { readonly ok: true }>["issued"], "timeMs">;
}

/**
 * Returns the digest that identifies an agent's use of a token: a repeated request with the same key has the same
 * digest.
 */
async function digestOf(token: Uint8Array, key: RequestedKey): Promise<Uint8Array> {
  const publicKey = await webcrypto.subtle.exportKey("spki", key);
  return createHash("sha256").update(token).update(new Uint8Array(publicKey)).digest();
}
