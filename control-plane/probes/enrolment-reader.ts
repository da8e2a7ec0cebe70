import { DatabaseAway } from "#control-plane/database/database-away.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import { findProbes, type StoredProbe } from "#control-plane/probes/store.ts";

const MOST_READS = 3;

/** Reads the enrolment of single agents. */
interface EnrolmentReader {
  /**
   * Returns the row of an agent as of the last `invalidate`, null if there is none. Rejects if the database is not
   * available or the row changes during each of three reads.
   */
  read(agentId: string): Promise<StoredProbe | null>;
  /** Makes reads in progress of these agents start again. */
  invalidate(isMeant: (agentId: string) => boolean): void;
}

/** Creates a reader of enrolments. */
export function createEnrolmentReader(database: GuardedDatabase): EnrolmentReader {
  const reads = new Set<{ readonly agentId: string; stale: boolean }>();
  return {
    async read(agentId) {
      for (let turn = 1; ; turn += 1) {
        const mark = { agentId, stale: false };
        reads.add(mark);
        const [row] = await database.run((sql) => findProbes(sql, [agentId])).finally(() => reads.delete(mark));
        if (!mark.stale) return row ?? null;
        if (turn === MOST_READS) throw new DatabaseAway("the enrolment changes faster than it can be read");
      }
    },
    invalidate(isMeant) {
      for (const mark of reads) if (isMeant(mark.agentId)) mark.stale = true;
    },
  };
}
