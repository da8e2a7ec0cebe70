import type { Job } from "#shared/protocol/probe.ts";
import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { ScriptedAgent } from "#test/support/scripted-agent.ts";
import type { TestControlPlane } from "#test/support/control-plane.ts";

/** One event of a stream. */
export interface StreamedEvent {
  readonly id: number | null;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Body of an answer to a poll of a measurement. */
export interface Polled {
  readonly id: string;
  readonly status: string;
  readonly total: number;
  readonly completed: number;
  readonly share_id: string | null;
  readonly data: {
    readonly locations: readonly { location: { region: string; probe_id: string }; status: string; data: unknown }[];
    readonly summary: Record<string, unknown>;
  };
  readonly [field: string]: unknown;
}

/** Returns a scripted agent's answer to `ping` with action ports. */
export function portsOutcome(host = "192.0.2.1", service: string | null = "https"): Outcome<unknown> {
  return ok({
    action: "ports",
    host,
    ip: "192.0.2.1",
    ip_version: 4,
    ports: [{ port: 443, state: "open", service, reason: null, rtt_ms: 1.5, tries: 1 }],
    resolve_ms: 0,
    elapsed_ms: 2,
    observed_at: "2026-01-01T00:00:00Z",
    limitations: [],
  });
}

/** Returns a measurement of one port. `host` must be one that agents are allowed to contact. */
export function portsOf(
  locations: string | readonly string[] | undefined,
  extra: Record<string, unknown> = {},
): Record<string, unknown> {
  const params = { host: "127.0.0.1", action: "ports", ports: "443" };
  return { tool: "ping", params, ...(locations === undefined ? {} : { locations }), ...extra };
}

/** Creates a measurement and returns its id. */
export async function createMeasurement(
  plane: Pick<TestControlPlane, "call">,
  key: string,
  body: Record<string, unknown>,
): Promise<string> {
  const made = await plane.call("/api/v4/measurements", { key, body });
  if (made.status !== 202) throw new Error(made.text);
  return made.body.data["id"];
}

/** Polls a measurement. */
export async function pollMeasurement(plane: Pick<TestControlPlane, "call">, key: string, id: string): Promise<Polled> {
  const { body, status, text } = await plane.call(`/api/v4/measurements?id=${id}`, { key });
  if (status !== 200) throw new Error(text);
  return body.data;
}

/** Reads a stream until `until` returns true, or to its end. */
export async function readStream(
  url: string,
  key: string,
  id: string,
  { after, until = () => false }: { readonly after?: number; readonly until?: (event: StreamedEvent) => boolean } = {},
): Promise<StreamedEvent[]> {
  const headers: Record<string, string> = { "x-api-key": key, accept: "text/event-stream" };
  if (after !== undefined) headers["last-event-id"] = String(after);
  const response = await fetch(`${url}/api/v4/measurements?id=${id}`, { headers });
  const reader = response.body?.getReader();
  const events: StreamedEvent[] = [];
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) return events;
    text += decoder.decode(chunk.value as Uint8Array, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const read = readBlock(block);
      if (read === null) continue;
      events.push(read);
      if (!until(read)) continue;
      await reader?.cancel();
      return events;
    }
  }
}

function readBlock(block: string): StreamedEvent | null {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  const event = field("event");
  if (event === undefined) return null;
  return {
    id: field("id") === undefined ? null : Number(field("id")),
    event,
    data: JSON.parse(field("data") ?? "null") as Readonly<Record<string, unknown>>,
  };
}

/** Builds a progress message of a job. */
export function progressOf(job: Job, data: unknown) {
  const value = { jobId: job.jobId, attempt: job.attempt, kind: "port", data: JSON.stringify(data) };
  return { body: { $case: "progress", value } } as const;
}

/** Sends the heartbeats without which a stream counts as lost. */
export function keepAlive(agent: ScriptedAgent): void {
  const value = { running: 0, credits: 10, loopLagMs: 0, waiting: 0 };
  const beats = setInterval(() => agent.send({ body: { $case: "beat", value } }), 1_000);
  void agent.ended.then(() => clearInterval(beats));
}
