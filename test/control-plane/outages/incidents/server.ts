import { pino } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import { openReplica, type Replica, type ReplicaConfig } from "#control-plane/app/replica.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { createGatedServer } from "#control-plane/accounts/gated-server.ts";
import { readIncidentEvidence } from "#control-plane/watching/evidence/requests.ts";
import { createWrites } from "#control-plane/http/writes.ts";
import { createAnswers } from "#control-plane/http/idempotency/answers.ts";
import { createIncidentWrites } from "#control-plane/outages/incidents/writes.ts";
import { registerIncidents } from "#control-plane/outages/incidents/routes.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import { apiOf, type Answer, type CallOptions } from "#test/support/control-plane.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";

/** Operator token of these tests. */
const ADMIN_TOKEN = "operator-token-of-the-tests-0123456789";

/** A replica whose only further routes are those of incidents. */
export interface IncidentServer {
  readonly app: Replica<ReplicaConfig>;
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** Creates an account with a key. */
  createKey(plan?: PlanName, name?: string): Promise<{ readonly key: string; readonly accountId: number }>;
  close(): Promise<void>;
}

/** Starts a replica on a test database. An account has the monitors of its rows, and status page 5. */
export async function startIncidentServer(databaseUrl: string, clock: Clock): Promise<IncidentServer> {
  const app = await openReplica(
    {
      config: { databaseUrl, trustedProxies: [], v1V2Sunset: new Date("2999-01-01T00:00:00Z") },
      adminToken: ADMIN_TOKEN,
      masterKey: MASTER_KEY,
      plans: WIDE_PLANS,
      hostClock: systemClock,
      random: systemRandom,
      log: pino({ level: "silent" }),
    },
    { clock },
  );
  const { server, gate } = createGatedServer(app, { agents: () => 1 });
  const answers = createAnswers(app);
  registerIncidents(server, {
    gate,
    clock,
    sql: app.sql,
    writes: createWrites({ ...app, answers, record: app.changes.record }),
    incidents: createIncidentWrites({
      clock,
      monitorsOf: async (sql, accountId, ids) => {
        const rows = await sql<{ id: number }[]>`
        select id from monitors where account_id = ${accountId} and id = any(${[...ids]}::bigint[])`;
        return rows.map(({ id }) => id);
      },
      pagesOf: (_sql, _accountId, ids) => Promise.resolve(ids.filter((id) => id === 5)),
      events: createEvents({ random: systemRandom, sources: [] }),
    }),
    evidenceOf: readIncidentEvidence,
    nameCaller: (sql, { keyId }) => app.keys.label(sql, keyId),
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  const { call } = apiOf(url);
  return {
    app,
    call,
    async createKey(plan = "captain", name = "ann") {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const { body } = await call("/api/admin/keys", { method: "POST", headers, body: { plan, name } });
      const { key, account_id: accountId } = body.data as { key: string; account_id: number };
      return { key, accountId };
    },
    async close() {
      await server.close();
      answers.close();
      await app.close();
    },
  };
}
