// When a deployment stops to hold: a queue of due checks, second by second, against what each part can do. It knows the
// costs and limits of Vantage, and nothing of networks.

/** What a service watches. */
export interface Load {
  readonly monitors: number;
  readonly intervalSeconds: number;
  /** Locations that each monitor is checked from. */
  readonly locations: number;
  /** Time that a check of a target that answers takes, in milliseconds. */
  readonly answerMs: number;
  /** Time after which a check of a target that hangs ends. */
  readonly timeoutSeconds: number;
  /** Outages of a monitor in a month, each with two events: down and up. */
  readonly outagesPerMonth: number;
  /** Webhooks and mail addresses that get each event. */
  readonly receivers: number;
  /** Reads of a monitor or of a page of the list, each second. */
  readonly readsPerSecond: number;
  /** Days for which checks are kept. */
  readonly keptDays: number;
}

/** What serves it. */
export interface Deployment {
  /** Services side by side, each with its own accounts, database, replicas and agents; a load is divided equally. */
  readonly shards: number;
  /** Replicas of the control plane of a shard: each has one thread that works. */
  readonly replicas: number;
  /** Agents of a shard, each attached to all its replicas. */
  readonly agents: number;
  /** Jobs that an agent runs at once: VANTAGE_MAX_JOBS. */
  readonly agentJobs: number;
  /** Cores of the database of a shard. */
  readonly databaseCores: number;
  /** What the disk of the database takes for WAL, in MB/s, and what it holds, in TB. */
  readonly walMbPerSecond: number;
  readonly diskTb: number;
  /** max_connections of the database, or the pool in front of it. */
  readonly databaseConnections: number;
  /** Memory of the database's machine, of a replica and of an agent, in GB. */
  readonly databaseGb: number;
  readonly replicaGb: number;
  readonly agentGb: number;
}

/** Measured costs: times in microseconds of one core, sizes in bytes. */
export interface Costs {
  readonly check: { readonly controlPlane: number; readonly agent: number; readonly database: number };
  readonly checkWal: number;
  /** A row of `checks` with its index, and one of `check_hours`. */
  readonly checkRow: number;
  readonly hourRow: number;
  readonly delivery: { readonly controlPlane: number; readonly database: number };
  readonly deliveryWal: number;
  readonly read: { readonly controlPlane: number; readonly database: number };
  /** Each second for each agent: at one replica, and in the database for one replica. */
  readonly attachedAgent: { readonly controlPlane: number; readonly database: number };
  /** Each second for each replica, and each agent, without anything to do. */
  readonly idle: { readonly controlPlane: number; readonly agent: number; readonly database: number };
  readonly monitorMemory: { readonly controlPlane: number; readonly database: number };
  readonly attachedAgentMemory: number;
  readonly baseMemory: { readonly controlPlane: number; readonly agent: number; readonly database: number };
}

/** Fixed limits of the product that a load can meet. */
export interface Limits {
  /** Checks that run or wait to be recorded in a replica (watch/claim-loop.ts, MOST_BUSY). */
  readonly checksOfReplica: number;
  /** Monitors of which a replica keeps what it has read (watch/watched.ts, MOST_KEPT). */
  readonly monitorsKept: number;
  /** Connections of a replica to the database, at most. */
  readonly connectionsOfReplica: number;
  /** Days for which the hours of a monitor are kept (outages/history/roll-up/retention.ts). */
  readonly hoursKeptDays: number;
  /** Further checks that confirm a failure. */
  readonly confirmations: number;
}

/** Something that goes wrong for some time. */
export interface Trouble {
  readonly fromSecond: number;
  readonly seconds: number;
  /** Share of the targets that hang until the timeout. */
  readonly hanging?: number;
  /** Replicas and agents of a shard that are gone. */
  readonly replicas?: number;
  readonly agents?: number;
  /** The database does not answer. */
  readonly database?: boolean;
}

/** The parts that can fill. */
export const PARTS = [
  "control plane: processor",
  "control plane: checks at once",
  "control plane: memory",
  "agents: processor",
  "agents: jobs at once",
  "agents: memory",
  "database: processor",
  "database: WAL",
  "database: disk",
  "database: memory",
  "database: connections",
] as const;
/** One of them. */
export type Part = (typeof PARTS)[number];

/** What became of the load. */
export interface Verdict {
  /** No check was left out, no part is over its share, and the queue was empty at the end. */
  readonly holds: boolean;
  /** Use of each part without troubles, 1 for all of it. */
  readonly use: Readonly<Record<Part, number>>;
  /** The part with the highest use. */
  readonly fullest: Part;
  /** Time by which the latest check was late, in seconds. */
  readonly latest: number;
  /** Checks that were left out, because the next one of the same monitor was due. */
  readonly leftOut: number;
}

/** Share of a processor, a disk or a memory that is planned; the rest is for what is not in the model. */
const PLANNED = 0.7;
const DAY_SECONDS = 86_400;
const MONTH_SECONDS = 30 * DAY_SECONDS;
/** Length of a simulation: troubles begin and end in it, and the queue must be empty at its end. */
const SECONDS = 3_600;

/** Runs an hour. `load` is that of the whole service; the verdict is that of one shard. */
export function simulate(
  load: Load,
  deployment: Deployment,
  costs: Costs,
  limits: Limits,
  troubles: readonly Trouble[] = [],
): Verdict {
  const own = {
    ...load,
    monitors: load.monitors / deployment.shards,
    readsPerSecond: load.readsPerSecond / deployment.shards,
  };
  const use = useOf(own, deployment, costs, limits);
  const fullest = PARTS.reduce((most, part) => (use[part] > use[most] ? part : most));
  const { latest, leftOut, left } = runQueue(own, deployment, costs, limits, troubles);
  return { holds: leftOut === 0 && left < 1 && use[fullest] <= 1, use, fullest, latest, leftOut };
}

/** Returns the largest number of monitors, in steps of one in a hundred, with which a deployment holds. */
export function findMostMonitors(
  load: Load,
  deployment: Deployment,
  costs: Costs,
  limits: Limits,
  troubles: readonly Trouble[] = [],
): number {
  const holds = (monitors: number) => simulate({ ...load, monitors }, deployment, costs, limits, troubles).holds;
  let [low, high] = [0, 1];
  while (holds(high) && high < 1e9) [low, high] = [high, high * 2];
  while (high - low > Math.max(1, high / 100)) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Returns checks and deliveries of a second, as planned. */
function ratesOf(load: Load) {
  const checks = (load.monitors * load.locations) / load.intervalSeconds;
  const events = (load.monitors * load.outagesPerMonth * 2) / MONTH_SECONDS;
  return { checks, deliveries: events * load.receivers };
}

/** Returns the share of each part that is used while everything works; processors, disk and memory by PLANNED. */
function useOf(load: Load, deployment: Deployment, costs: Costs, limits: Limits): Record<Part, number> {
  const { checks, deliveries } = ratesOf(load);
  const { replicas, agents } = deployment;
  const budget = budgetOf(load, deployment, costs, { replicas, agents });
  const walMb = (checks * costs.checkWal + deliveries * costs.deliveryWal) / 1e6;
  const kept =
    checks * DAY_SECONDS * load.keptDays * costs.checkRow +
    load.monitors * load.locations * 24 * limits.hoursKeptDays * costs.hourRow;
  const controlPlaneBytes =
    costs.baseMemory.controlPlane +
    Math.min(load.monitors, limits.monitorsKept) * costs.monitorMemory.controlPlane +
    agents * costs.attachedAgentMemory;
  const databaseBytes = costs.baseMemory.database + load.monitors * costs.monitorMemory.database;
  return {
    "control plane: processor":
      1 - (budget.controlPlane - checks * costs.check.controlPlane) / (replicas * 1e6 * PLANNED),
    "control plane: checks at once": (checks * load.answerMs) / 1_000 / (replicas * limits.checksOfReplica),
    "control plane: memory": controlPlaneBytes / (deployment.replicaGb * 1e9 * PLANNED),
    "agents: processor": 1 - (budget.agent - checks * costs.check.agent) / (agents * 1e6 * PLANNED),
    "agents: jobs at once": (checks * load.answerMs) / 1_000 / (agents * deployment.agentJobs),
    "agents: memory": costs.baseMemory.agent / (deployment.agentGb * 1e9 * PLANNED),
    "database: processor":
      1 - (budget.database - checks * costs.check.database) / (deployment.databaseCores * 1e6 * PLANNED),
    "database: WAL": walMb / (deployment.walMbPerSecond * PLANNED),
    "database: disk": kept / (deployment.diskTb * 1e12 * PLANNED),
    "database: memory": databaseBytes / (deployment.databaseGb * 1e9 * PLANNED),
    "database: connections": (replicas * limits.connectionsOfReplica) / deployment.databaseConnections,
  };
}

/** Returns the microseconds of a second that are left for checks in each part. */
function budgetOf(
  load: Load,
  deployment: Deployment,
  costs: Costs,
  present: { readonly replicas: number; readonly agents: number },
) {
  const { deliveries } = ratesOf(load);
  const { replicas, agents } = present;
  const beside = (part: "controlPlane" | "database") =>
    replicas * costs.idle[part] +
    replicas * agents * costs.attachedAgent[part] +
    deliveries * costs.delivery[part] +
    load.readsPerSecond * costs.read[part];
  return {
    controlPlane: replicas * 1e6 * PLANNED - beside("controlPlane"),
    agent: agents * (1e6 * PLANNED - costs.idle.agent),
    database: deployment.databaseCores * 1e6 * PLANNED - beside("database"),
  };
}

/** Runs the queue of due checks for an hour. Checks that hang keep their places until they time out. */
function runQueue(
  load: Load,
  deployment: Deployment,
  costs: Costs,
  limits: Limits,
  troubles: readonly Trouble[],
): { readonly latest: number; readonly leftOut: number; readonly left: number } {
  const { checks: rate } = ratesOf(load);
  const ending = new Float64Array(SECONDS + Math.ceil(load.timeoutSeconds) + 1);
  let [queue, hanging, latest, leftOut] = [0, 0, 0, 0];
  for (let second = 0; second < SECONDS; second += 1) {
    const now = troubles.filter(({ fromSecond, seconds }) => second >= fromSecond && second < fromSecond + seconds);
    const lost = (part: "replicas" | "agents") => now.reduce((sum, trouble) => sum + (trouble[part] ?? 0), 0);
    const replicas = Math.max(0, deployment.replicas - lost("replicas"));
    const agents = Math.max(0, deployment.agents - lost("agents"));
    const hangingShare = Math.min(
      1,
      now.reduce((sum, trouble) => sum + (trouble.hanging ?? 0), 0),
    );
    hanging -= ending[second] ?? 0;
    // The first failure is confirmed; a monitor that is down is checked as before.
    const starts = now.some(
      ({ fromSecond, hanging: share = 0 }) => share > 0 && second < fromSecond + load.intervalSeconds,
    );
    queue += rate * (1 + (starts ? hangingShare * limits.confirmations : 0));
    const budget = budgetOf(load, deployment, costs, { replicas, agents });
    const places = Math.min(replicas * limits.checksOfReplica, agents * deployment.agentJobs) - hanging;
    // Of checks that answer, so many can follow one another in a second that each keeps a place for its share of it.
    const placesOfCheck = (1 - hangingShare) * Math.min(1, load.answerMs / 1_000) + hangingShare;
    const most = Math.min(
      budget.controlPlane / costs.check.controlPlane,
      budget.agent / costs.check.agent,
      budget.database / costs.check.database,
      places / placesOfCheck,
    );
    const started = now.some(({ database }) => database === true) ? 0 : Math.max(0, Math.min(queue, most));
    queue -= started;
    hanging += started * hangingShare;
    ending[second + Math.ceil(load.timeoutSeconds)]! += started * hangingShare;
    const waiting = rate * load.intervalSeconds;
    if (queue > waiting) [leftOut, queue] = [leftOut + queue - waiting, waiting];
    latest = Math.max(latest, rate === 0 ? 0 : queue / rate);
  }
  return { latest, leftOut, left: queue };
}
