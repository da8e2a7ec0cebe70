import { Agent, get } from "node:http";
import { setInterval } from "node:timers/promises";
import { proofIn } from "#test/fleet/answer.ts";
import { DOMAIN } from "#test/fleet/fleet.ts";
import { sample, type Dice } from "#test/fleet/random.ts";
import type { CallMade, RowAnswered } from "#test/fleet/records.ts";

/** Longer than the deadline of any call, so that a call without an answer is the control plane's fault. */
const GIVE_UP_MS = 30_000;
const TICK_MS = 5;

/** Calls to make. Each is a ping from several regions. */
export interface LoadPlan {
  readonly url: string;
  readonly key: string;
  readonly callsPerSecond: number;
  readonly seconds: number;
  /** Number of regions of each call. */
  readonly regions: readonly string[];
  readonly perCall: number;
  readonly dice: Dice;
}

/** Makes the calls at their own rate, however slow the answers are. Resolves when the last one has its answer. */
export async function runCalls(plan: LoadPlan): Promise<CallMade[]> {
  const { callsPerSecond, seconds, dice, regions, perCall } = plan;
  const agent = new Agent({ keepAlive: true });
  const calls: Promise<CallMade>[] = [];
  const startedAt = performance.now();
  for await (const _ of setInterval(TICK_MS)) {
    const elapsed = (performance.now() - startedAt) / 1_000;
    const due = Math.floor(Math.min(elapsed, seconds) * callsPerSecond);
    while (calls.length < due) calls.push(call(plan, agent, calls.length, sample(dice, regions, perCall)));
    if (elapsed >= seconds) break;
  }
  const made = await Promise.all(calls);
  agent.destroy();
  return made;
}

/** Makes one call. Its deadline is long enough to detect a silent agent and to ask another one. */
async function call(plan: LoadPlan, agent: Agent, number: number, asked: readonly string[]): Promise<CallMade> {
  const query = `host=c${number}.${DOMAIN}&count=10&interval_ms=1000&locations=${asked.join()}`;
  try {
    const { status, text } = await fetchText(`${plan.url}/api/v4/ping?${query}`, plan.key, agent);
    return { asked, status, rows: status === 200 ? rowsIn(text) : [] };
  } catch {
    return { asked, status: null, rows: [] };
  }
}

function fetchText(url: string, key: string, agent: Agent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { agent, headers: { "x-api-key": key }, signal: AbortSignal.timeout(GIVE_UP_MS) };
    const request = get(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      response.on("error", reject);
    });
    request.on("error", reject);
  });
}

/** Parses the rows of an answer and keeps what the checker needs. */
function rowsIn(text: string): RowAnswered[] {
  const { data } = JSON.parse(text) as { data: { locations: readonly AnsweredRow[] } };
  return data.locations.map((row) => ({
    region: row.location.region,
    probeId: row.location.probe_id,
    durationMs: row.duration_ms,
    proof: row.status === "ok" ? proofIn(row.data) : null,
    failure: row.status === "ok" ? null : `${row.error?.code} ${row.error?.reason ?? ""}`.trimEnd(),
  }));
}

interface AnsweredRow {
  readonly location: { readonly region: string; readonly probe_id: string };
  readonly duration_ms: number;
  readonly status: "ok" | "failed";
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly reason?: string };
}
