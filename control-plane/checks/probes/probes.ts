import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { createEnrolment } from "#control-plane/checks/probes/enrolment.ts";
import { createGatekeeper } from "#control-plane/checks/probes/gatekeeper.ts";
import {
  enableProbe,
  exportProbes,
  notifyAccountErased,
  revokeProbe,
  type StoredProbe,
  findAuthority,
  insertAuthority,
} from "#control-plane/checks/probes/store.ts";
import { createToken, type CreatedToken, type TokenRequest } from "#control-plane/checks/probes/tokens.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import type { Security, ListenerIdentity } from "#control-plane/checks/dispatch/security.ts";
import { type Authority, createAuthority, openAuthority } from "#control-plane/checks/probes/authority.ts";
import { transact } from "#control-plane/core/database/transaction.ts";

const PURPOSE = "authority.private_key";

/** Dependencies of the installation's authority. */
interface AuthorityDeps {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly clock: Clock;
  readonly random: Random;
}

/** Loads the installation's only authority. The first replica creates it; all replicas use the same. */
export async function loadAuthority({ sql, encryption, clock, random }: AuthorityDeps): Promise<Authority> {
  const kept = (await findAuthority(sql)) ?? (await createAndStore());
  const privateKey = encryption.open(kept.privateKey, PURPOSE);
  if (privateKey === null)
    throw new Error("the authority's key in the database cannot be decrypted with the master key");
  return openAuthority({ certificate: kept.certificate, privateKey }, clock, random);

  async function createAndStore() {
    const { certificate, privateKey: fresh } = await createAuthority(clock, random);
    const sealed = { certificate, privateKey: encryption.seal(fresh, PURPOSE) };
    return transact(sql, (tx) => insertAuthority(tx, sealed, clock.now()));
  }
}

const HOUR_MS = 3_600_000;
// A third of the certificate's lifetime: a replica that cannot renew it for weeks still works.
const AHEAD_MS = 30 * 24 * HOUR_MS;

/** Issues the listener's certificate and renews it until `close`. */
export async function openListenerIdentity(
  authority: Pick<Authority, "issueServer">,
  { clock, log, everyMs = HOUR_MS }: { clock: Clock; log: Logger; everyMs?: number },
): Promise<Security["identity"] & { close(): void }> {
  const listeners: ((identity: ListenerIdentity) => void)[] = [];
  let identity = await authority.issueServer();

  async function renew(): Promise<void> {
    if (identity.notAfter.getTime() - clock.now().getTime() > AHEAD_MS) return;
    identity = await authority.issueServer();
    log.info({ until: identity.notAfter }, "listener certificate renewed");
    for (const listener of listeners) listener(identity);
  }
  const timer = setInterval(() => {
    renew().catch((error: unknown) =>
      log.error({ err: error }, "listener certificate could not be renewed; the next attempt follows"),
    );
  }, everyMs);
  timer.unref();

  return {
    current: () => identity,
    onRenew: (listener) => void listeners.push(listener),
    close: () => clearInterval(timer),
  };
}

/** Enrolled agents: admits them, and lets operators manage them. */
export interface Probes {
  /** SHA-256 of the authority's certificate, hex. */
  readonly fingerprint: string;
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
interface ProbesDeps {
  readonly sql: Sql;
  /** Connection for statements that an agent waits for. */
  readonly gate: GuardedDatabase;
  readonly notifications: Notifications;
  readonly accounts: Accounts;
  readonly encryption: Encryption;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Opens enrolment on this replica. The first replica of the installation creates the authority. */
export async function openProbes(deps: ProbesDeps): Promise<Probes> {
  const { sql, gate: database, notifications, accounts, encryption, clock, random, log, registry } = deps;
  const authority = await loadAuthority({ sql, encryption, clock, random });
  const identity = await openListenerIdentity(authority, { clock, log });
  const gatekeeper = createGatekeeper({ authority, database, notifications, clock });
  const enrolment = createEnrolment({ authority, database, clock, random, log, registry });
  accounts.onErase(notifyAccountErased);
  accounts.addExporter("probes", exportProbes);
  const { fingerprint } = authority;
  return {
    fingerprint,
    security: { gatekeeper, enrolment, identity, authority: authority.pem },
    createToken: (request) => createToken(sql, request, { fingerprint, clock, random }),
    enable: (id, enabled) => enableProbe(sql, id, enabled),
    revoke: (id) => revokeProbe(sql, id, clock.now()),
    close() {
      gatekeeper.close();
      identity.close();
    },
  };
}
