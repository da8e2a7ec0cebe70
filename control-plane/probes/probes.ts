import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { loadAuthority } from "#control-plane/probes/load-authority.ts";
import { createEnrolment } from "#control-plane/probes/enrolment.ts";
import { createGatekeeper } from "#control-plane/probes/gatekeeper.ts";
import { openListenerIdentity } from "#control-plane/probes/listener-identity.ts";
import {
  enableProbe,
  exportProbes,
  notifyAccountErased,
  revokeProbe,
  type StoredProbe,
} from "#control-plane/probes/store.ts";
import { createToken, type CreatedToken, type TokenRequest } from "#control-plane/probes/tokens.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import type { Security } from "#control-plane/dispatch/security.ts";

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
