import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { planChaos, type Rates } from "#test/fleet/chaos.ts";
import { DOMAIN, startFleet, type Fleet, type FleetSize } from "#test/fleet/fleet.ts";
import { checkHistory, type HistoryCheck } from "#test/fleet/history.ts";
import { runCalls } from "#test/fleet/load.ts";
import { createDice } from "#test/fleet/random.ts";
import type { CallMade } from "#test/fleet/records.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";

/** Limits high enough to have no effect here. */
const PLANS = { captain: { requests_per_minute: 1_000_000_000, requests_per_day: 1_000_000_000 } };

/** A control plane with a fleet attached and a key to call it with. */
export interface Scene {
  readonly plane: ControlPlaneProcess;
  readonly fleet: Fleet;
  /** Makes calls at this rate for this time, each to `perCall` regions, with faults if rates are given. */
  run(load: SceneLoad): Promise<void>;
  /** Returns the text of one answer from `perCall` regions. */
  answerTo(perCall: number): Promise<string>;
  /** Checks the calls since the last check. Everything continues to run. */
  checkCalls(): HistoryCheck;
  end(): Promise<void>;
}

/** Calls during a period. */
export interface SceneLoad {
  readonly callsPerSecond: number;
  readonly perCall: number;
  readonly seconds: number;
  readonly chaos?: Rates;
}

/** Options of a scene. */
export interface SceneOptions {
  readonly databaseUrl: string;
  readonly size: FleetSize;
  /** Path of an empty folder. */
  readonly folder: string;
  readonly seed: number;
  /** Flags of the control plane's Node. */
  readonly flags?: readonly string[];
}

/** Starts a control plane on a database, and a fleet. */
export async function openScene({ databaseUrl, size, folder, seed, flags = [] }: SceneOptions): Promise<Scene> {
  const plans = join(folder, "plans.json");
  const notes = join(folder, "notes");
  writeFileSync(plans, JSON.stringify(PLANS));
  mkdirSync(notes);
  const plane = await startControlPlaneProcess(databaseUrl, { settings: { VANTAGE_PLANS: plans }, flags });
  try {
    return playIn(plane, await startFleet(plane, size, notes, seed), await plane.createKey(), seed);
  } catch (error) {
    await plane.end("SIGKILL");
    throw error;
  }
}

function playIn(plane: ControlPlaneProcess, fleet: Fleet, key: string, seed: number): Scene {
  const { size } = fleet;
  const dice = createDice(seed);
  let calls: CallMade[] = [];
  return {
    plane,
    fleet,
    async run({ callsPerSecond, perCall, seconds, chaos }) {
      const agents = size.processes * size.agentsEach;
      const incidents =
        chaos === undefined ? [] : planChaos(dice, seconds, chaos, { agents, processes: size.processes });
      const timers = incidents.map((incident) => setTimeout(() => fleet.cause(incident), incident.atMs));
      const made = await runCalls({
        url: plane.url,
        key,
        callsPerSecond,
        seconds,
        regions: fleet.regions,
        perCall,
        dice,
      });
      for (const timer of timers) clearTimeout(timer);
      calls.push(...made);
    },
    async answerTo(perCall) {
      const locations = fleet.regions.slice(0, perCall).join();
      return (await plane.call(`/api/v4/ping?host=once.${DOMAIN}&locations=${locations}`, { key })).text;
    },
    checkCalls() {
      const verdict = checkHistory({ calls, ...fleet.notes() });
      calls = [];
      return verdict;
    },
    async end() {
      await fleet.stop();
      await plane.end("SIGTERM");
    },
  };
}
