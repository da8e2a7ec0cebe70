import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { AgentMember } from "#test/fleet/agent.ts";
import type { Fault } from "#test/fleet/chaos.ts";
import type { Order, Report } from "#test/fleet/main.ts";
import { readCpuSeconds } from "#test/fleet/process-times.ts";
import { readNotes, type History } from "#test/fleet/records.ts";
import type { ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { callEnroll, fetchAuthority, identityOf, makeJoinToken, makeRequest } from "#test/support/enrol.ts";
import { PATIENCE } from "#test/support/patience.ts";

const ENTRY = fileURLToPath(new URL("main.ts", import.meta.url));
/**
 * Domain that simulated agents are allowed to reach. It is on the operator's allow list, so that no target budget
 * limits it.
 */
export const DOMAIN = "fleet.test";
const RESPAWN_MS = 1_000;

/** Size of a fleet. */
export interface FleetSize {
  readonly processes: number;
  readonly agentsEach: number;
  readonly regions: number;
}

/** Simulated agents over the real protocol, in separate processes. */
export interface Fleet {
  readonly regions: readonly string[];
  readonly size: FleetSize;
  /** Causes one fault. A killed process is back one second later with the same agents. */
  cause(incident: Fault): void;
  /** Returns the CPU time of the running processes in seconds. */
  cpuSeconds(): number;
  /** Returns the notes of all agents since the start, including dead ones. */
  notes(): Omit<History, "calls">;
  stop(): Promise<void>;
}

/** Enrols the agents, starts them with notes in `folder`, and resolves when each has been welcomed. */
export async function startFleet(
  plane: ControlPlaneProcess,
  size: FleetSize,
  folder: string,
  seed: number,
): Promise<Fleet> {
  const regions = Array.from({ length: size.regions }, (_, index) => `r${String(index + 1).padStart(2, "0")}`);
  const members = await enrolAll(plane, regions, size.processes * size.agentsEach);
  const children: ChildProcess[] = [];
  // Real agents start on other machines, so their start should cost this one little.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "..", "compiled") };
  let lives = 0;
  let isOver = false;

  async function spawn(process: number): Promise<void> {
    lives += 1;
    const child = fork(ENTRY, { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
    children[process] = child;
    const own = members.slice(process * size.agentsEach, (process + 1) * size.agentsEach);
    const order: Order = {
      order: "start",
      port: plane.grpcPort,
      domain: DOMAIN,
      notes: join(folder, `notes-${lives}`),
      seed: seed + lives,
      name: String(lives),
      members: own,
    };
    child.send(order);
    await new Promise<void>((resolve, reject) => {
      child.on("message", ({ attached }: Report) => attached === own.length && resolve());
      child.once("exit", () => reject(new Error("a process of agents ended before all had attached")));
    });
  }

  const attached = Promise.all(Array.from({ length: size.processes }, (_, process) => spawn(process)));
  const late = sleep(PATIENCE.hookTimeout / 2, null, { ref: false }).then(() =>
    Promise.reject(new Error("the agents did not attach")),
  );
  late.catch(() => {});
  await Promise.race([attached, late]);

  return {
    regions,
    size,
    cause({ what, target }) {
      if (what === "kill") {
        const child = children[target];
        if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
        child.kill("SIGKILL");
        setTimeout(() => !isOver && spawn(target).catch(() => {}), RESPAWN_MS);
        return;
      }
      const child = children[Math.floor(target / size.agentsEach)];
      const order: Order = { order: "trouble", target: target % size.agentsEach, what };
      if (child?.connected === true) child.send(order, () => {});
    },
    cpuSeconds: () => children.reduce((sum, { pid = 0 }) => sum + readCpuSeconds(pid), 0),
    notes() {
      const all = readdirSync(folder).map((name) => readNotes(readFileSync(join(folder, name), "utf8")));
      return { seen: all.flatMap(({ seen }) => seen), sent: all.flatMap(({ sent }) => sent) };
    },
    async stop() {
      isOver = true;
      const alive = children.filter((child) => child.exitCode === null && child.signalCode === null);
      await Promise.all(
        alive.map((child) => {
          const exited = once(child, "exit");
          child.kill("SIGTERM");
          return exited;
        }),
      );
    },
  };
}

async function enrolAll(plane: ControlPlaneProcess, regions: readonly string[], count: number): Promise<AgentMember[]> {
  const tokens = await Promise.all(
    regions.map((region) => makeJoinToken(plane, { region, ttl_seconds: 3_600, reusable: true })),
  );
  const authority = await fetchAuthority(plane.grpcPort, tokens[0] ?? "");
  const members: AgentMember[] = [];
  for (let index = 0; index < count; index += 1) {
    const token = tokens[index % regions.length] ?? "";
    const request = await makeRequest();
    const identity = identityOf(await callEnroll(plane.grpcPort, authority, token, request.der), request);
    members.push({ identity, region: regions[index % regions.length] ?? "" });
  }
  return members;
}
