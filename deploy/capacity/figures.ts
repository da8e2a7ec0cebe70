import type { Costs, Deployment, Limits, Load, Trouble } from "./simulate.ts";

/**
 * Costs measured by `npm run bench -- growth` on the machine that deploy/capacity.md describes. Those of a check are those
 * of its highest rate, where a statement serves many checks; what a process spends at any rate is in `idle`.
 */
export const COSTS: Costs = {
  check: { controlPlane: 155, agent: 285, database: 125 },
  checkWal: 1_500,
  checkRow: 102,
  hourRow: 190,
  delivery: { controlPlane: 230, database: 155 },
  deliveryWal: 3_100,
  read: { controlPlane: 2_400, database: 3_800 },
  attachedAgent: { controlPlane: 75, database: 1 },
  idle: { controlPlane: 20_000, agent: 15_000, database: 10_000 },
  monitorMemory: { controlPlane: 6_000, database: 11_000 },
  attachedAgentMemory: 130_000,
  baseMemory: { controlPlane: 250e6, agent: 200e6, database: 250e6 },
};

/** Limits in the code. test/deploy/capacity.test.ts compares those that it can read. */
export const LIMITS: Limits = {
  checksOfReplica: 2_000,
  monitorsKept: 100_000,
  connectionsOfReplica: 25,
  hoursKeptDays: 90,
  confirmations: 2,
};

/** A service whose targets answer in 300 ms, and where a monitor is down once a month. */
export const USUAL_LOAD: Load = {
  monitors: 1_000_000,
  intervalSeconds: 60,
  locations: 1,
  answerMs: 300,
  timeoutSeconds: 15,
  outagesPerMonth: 1,
  receivers: 2,
  readsPerSecond: 20,
  keptDays: 7,
};

const SMALL: Deployment = {
  shards: 1,
  replicas: 1,
  agents: 1,
  agentJobs: 200,
  databaseCores: 1,
  walMbPerSecond: 20,
  diskTb: 0.1,
  databaseConnections: 100,
  databaseGb: 4,
  replicaGb: 2,
  agentGb: 1,
};
const MIDDLE: Deployment = {
  ...SMALL,
  replicas: 3,
  agents: 10,
  databaseCores: 4,
  walMbPerSecond: 50,
  diskTb: 1,
  databaseGb: 16,
};
const LARGE: Deployment = {
  ...MIDDLE,
  replicas: 12,
  agents: 1_000,
  databaseCores: 16,
  walMbPerSecond: 100,
  diskTb: 4,
  databaseConnections: 400,
  databaseGb: 64,
  replicaGb: 4,
};

/** Deployments by their names in deploy/capacity.md. */
export const DEPLOYMENTS: Readonly<Record<string, Deployment>> = {
  "`npm start`: 1 replica, 1 agent, 1 core for the database, 0.1 TB": SMALL,
  "3 replicas, 10 agents, 4 cores, 1 TB": MIDDLE,
  "3 replicas, 1,000 agents, 4 cores, 1 TB": { ...MIDDLE, agents: 1_000 },
  "12 replicas, 1,000 agents, 16 cores, 4 TB": LARGE,
  "12 replicas, 10,000 agents, 16 cores, 4 TB": { ...LARGE, agents: 10_000 },
  "10 shards, each with 3 replicas, 1,000 agents, 4 cores, 1 TB": { ...MIDDLE, shards: 10, agents: 1_000 },
};

/** What happens to every service at some time, each in an hour of its own. */
export const TROUBLES: Readonly<Record<string, readonly Trouble[]>> = {
  "a replica is gone for 30 s": [{ fromSecond: 600, seconds: 30, replicas: 1 }],
  "the database is away for 30 s": [{ fromSecond: 600, seconds: 30, database: true }],
  "a fifth of the targets hang for 10 min": [{ fromSecond: 600, seconds: 600, hanging: 0.2 }],
};
