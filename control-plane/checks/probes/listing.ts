import type { App } from "#control-plane/core/app.ts";
import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { Roster } from "#control-plane/checks/dispatch/roster.ts";
import type { Session } from "#control-plane/checks/dispatch/session.ts";
import { deadBefore } from "#control-plane/checks/probes/presence/dead-replicas.ts";
import { listProbes, type ProbeRecord } from "#control-plane/checks/probes/presence/store.ts";
import { parseStoredHello } from "#control-plane/checks/probes/presence/stored-hello.ts";
import { statusOf, type ProbeStatus } from "#control-plane/checks/probes/status.ts";

/** One probe as operators see it. Every replica returns the same. */
export interface ProbeRow {
  readonly agent: AgentInfo;
  readonly status: ProbeStatus;
  /** Ids of the live replicas to which it is attached, sorted. */
  readonly replicas: readonly string[];
  /** Time at which it was last attached, accurate to a second or two; null if it never was. */
  readonly lastSeenAt: Date | null;
  /** The only account that is allowed to use it; null for all accounts. */
  readonly accountId: number | null;
  readonly enrolledAt: Date;
  /** Expiry of its newest certificate. */
  readonly certificateExpiresAt: Date;
}

/** List of all probes that were ever enrolled, including revoked ones. */
export interface ProbeListing {
  /** Returns the matching probes, sorted by region and id. Rejects while the database is away. */
  read(filter?: { readonly id?: string; readonly status?: ProbeStatus }): Promise<readonly ProbeRow[]>;
}

/** Creates the listing from the database and the agents of this replica, whose state is a moment newer. */
export function createProbeListing({
  sql,
  clock,
  roster,
  replicaId,
}: Pick<App, "sql" | "clock"> & {
  readonly roster: Pick<Roster, "session">;
  readonly replicaId: string;
}): ProbeListing {
  return {
    async read({ id, status } = {}) {
      const query = { replicaId, horizon: deadBefore(clock.now()), id: id ?? null };
      const records = await listProbes(sql, query);
      return records
        .map((record) => toRow(record, roster.session(record.id), replicaId))
        .filter((row) => status === undefined || row.status === status);
    },
  };
}

function toRow(record: ProbeRecord, session: Session | undefined, replicaId: string): ProbeRow {
  const { id, region, hello, enabled, revokedAt, replicas, draining } = record;
  return {
    agent: session?.agent ?? parseStoredHello(id, region, hello),
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
