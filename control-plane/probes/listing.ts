import type { Clock } from "#shared/clock.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { AgentInfo } from "#control-plane/dispatch/hello.ts";
import type { Roster } from "#control-plane/dispatch/roster.ts";
import type { Session } from "#control-plane/dispatch/session.ts";
import { deadBefore } from "#control-plane/probes/presence/dead-replicas.ts";
import { listProbes, type ProbeRecord } from "#control-plane/probes/presence/store.ts";
import { readStoredHello } from "#control-plane/probes/presence/stored-hello.ts";
import { statusOf, type ProbeStatus } from "#control-plane/probes/status.ts";

/** One probe as operators see it, the same on every replica. */
export interface ProbeRow {
  readonly agent: AgentInfo;
  readonly status: ProbeStatus;
  /** Live replicas it is attached to, in order. */
  readonly replicas: readonly string[];
  /** Right to a second or two while it is attached; null: it never was. */
  readonly lastSeenAt: Date | null;
  /** Set: it serves this account only. */
  readonly accountId: number | null;
  readonly enrolledAt: Date;
  /** End of its newest certificate. */
  readonly certificateExpiresAt: Date;
}

/** Every probe that was ever enrolled, revoked ones included. */
export interface ProbeListing {
  /** By region and id; with `id` that one, or none. Rejects while the database is away. */
  read(filter?: { readonly id?: string; readonly status?: ProbeStatus }): Promise<readonly ProbeRow[]>;
}

/** What the listing is put together from. */
interface ProbeListingDeps {
  readonly sql: Sql;
  readonly clock: Pick<Clock, "now">;
  readonly roster: Pick<Roster, "session">;
  readonly replicaId: string;
}

/** The database's word on every probe, with this replica's own on those attached to it: that is a moment newer. */
export function createProbeListing({ sql, clock, roster, replicaId }: ProbeListingDeps): ProbeListing {
  return {
    async read({ id, status } = {}) {
      const asked = { replicaId, horizon: deadBefore(clock.now()), id: id ?? null };
      const records = await listProbes(sql, asked);
      return records
        .map((record) => rowOf(record, roster.session(record.id), replicaId))
        .filter((row) => status === undefined || row.status === status);
    },
  };
}

function rowOf(record: ProbeRecord, session: Session | undefined, replicaId: string): ProbeRow {
  const { id, region, hello, enabled, revokedAt, replicas, draining } = record;
  return {
    agent: session?.agent ?? readStoredHello(id, region, hello),
    status: statusOf({
      revoked: revokedAt !== null,
      enabled,
      here: session ?? null,
      elsewhere: { replicas, draining },
    }),
    replicas: session === undefined ? replicas : [...replicas, replicaId].toSorted(),
    lastSeenAt: session?.seenAt ?? record.lastSeenAt,
    accountId: record.accountId,
    enrolledAt: record.enrolledAt,
    certificateExpiresAt: record.certificateExpiresAt,
  };
}
