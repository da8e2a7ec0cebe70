import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { keepAuthority } from "#control-plane/probes/authority-keeping.ts";
import { createEnrolment } from "#control-plane/probes/enrolment.ts";
import { createGatekeeper } from "#control-plane/probes/gatekeeper.ts";
import { keepListenerIdentity } from "#control-plane/probes/listener-identity.ts";
import {
  enableProbe,
  exportProbes,
  notifyAccountErased,
  revokeProbe,
  type StoredProbe,
} from "#control-plane/probes/store.ts";
import { makeToken, type MadeToken, type TokenRequest } from "#control-plane/probes/tokens.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import type { Security } from "#control-plane/dispatch/security.ts";

/** Enrolled agents: letting them in, and what operators do with them. */
export interface Probes {
  /** SHA-256 of the authority's certificate, hex. */
  readonly fingerprint: string;
  /** For the listener. */
  readonly security: Security;
  /** Makes a join token; null where the account does not exist. */
  createToken(request: TokenRequest): Promise<MadeToken | null>;
  /** Lets an agent work or not, on every replica at once; null where there is none or it is revoked. */
  enable(id: string, enabled: boolean): Promise<StoredProbe | null>;
  /** Ends an agent's enrolment and its open streams on every replica; false where there is none. */
  revoke(id: string): Promise<boolean>;
  /** Ends the timers. */
  close(): void;
}

/** What enrolment needs. */
interface ProbesDeps {
  readonly sql: Sql;
  /** For statements that an agent waits for. */
  readonly gate: GuardedDatabase;
  readonly notifications: Notifications;
  readonly accounts: Accounts;
  readonly encryption: Encryption;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Opens this replica's side of enrolment; the first replica of all makes the authority. */
export async function openProbes(deps: ProbesDeps): Promise<Probes> {
  const { sql, gate: database, notifications, accounts, encryption, clock, random, log, registry } = deps;
  const authority = await keepAuthority({ sql, encryption, clock, random });
  const identity = await keepListenerIdentity(authority, { clock, log });
  const gatekeeper = createGatekeeper({ authority, database, notifications, clock });
  const enrolment = createEnrolment({ authority, database, clock, random, log, registry });
  accounts.onErase(notifyAccountErased);
  accounts.addExporter("probes", exportProbes);
  const { fingerprint } = authority;
  return {
    fingerprint,
    security: { gatekeeper, enrolment, identity, authority: authority.pem },
    createToken: (request) => makeToken(sql, request, { fingerprint, clock, random }),
    enable: (id, enabled) => enableProbe(sql, id, enabled),
    revoke: (id) => revokeProbe(sql, id, clock.now()),
    close() {
      gatekeeper.close();
      identity.close();
    },
  };
}
