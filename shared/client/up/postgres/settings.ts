import { totalmem } from "node:os";

const MB = 2 ** 20;

/**
 * Returns the memory that this process and its children may use, in octets: the machine's, or the limit of their control
 * group, which is 0 if the system does not say it.
 */
export function usableMemory(total = totalmem(), limit = process.constrainedMemory()): number {
  return Math.min(total, limit || Infinity);
}

/**
 * Returns parameters of a server that shares its machine's memory, in octets, with the control plane and an agent. From
 * 8 GB on, the memory for data and for statements is PostgreSQL's default. Sections are those of its documentation, version 18;
 * figures are of an idle server.
 */
export function serverSettings(memory: number): Readonly<Record<string, string>> {
  const share = (divisor: number, least: number, most: number) =>
    `${Math.min(most, Math.max(least, Math.floor(memory / divisor / MB)))}MB`;
  return {
    // 19.4: a quarter of the memory of a server's own machine. Also untouched, each 100 MB cost 4 MB of tables about them.
    shared_buffers: share(64, 16, 128),
    maintenance_work_mem: share(64, 16, 64),
    work_mem: share(256, 1, 4),
    // 19.7.2: what the planner assumes of the kernel's cache; nothing is allocated.
    effective_cache_size: share(2, 128, 4096),
    // 19.5: written at every commit. The default of 4 MB is for bulk loads; all of it is cleared at the start.
    wal_buffers: "1MB",
    // 19.3: each takes 35 kB before it is used. A control plane opens at most 24, two while one takes over from another.
    max_connections: "60",
    // 19.10: as many as autovacuum_max_workers starts; the default reserves 16.
    autovacuum_worker_slots: "3",
    // 19.6.4: nobody subscribes, so that the process that would start such workers has nothing to do.
    max_logical_replication_workers: "0",
    // 19.4: version 17 read like this. The default keeps three processes that read on behalf of others.
    io_method: "sync",
  };
}
