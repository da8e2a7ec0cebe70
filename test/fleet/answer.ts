import type { PingResult } from "#shared/tools/ping/contract.ts";
import type { Proof } from "#test/fleet/records.ts";

const REPLIES = [1, 2, 3, 4].map((seq) => ({ seq, rtt_ms: 10, ttl: 60, status: "ok" }) as const);

const TEMPLATE: PingResult = {
  action: "ping",
  host: "",
  ip: "192.0.2.1",
  ip_version: 4,
  method: "icmp",
  port: null,
  packets_sent: 4,
  packets_received: 4,
  packet_loss_percent: 0,
  rtt: { min_ms: 10, avg_ms: 10, max_ms: 10, mdev_ms: 0, p50_ms: 10, p95_ms: 10, jitter_ms: 0 },
  replies: [...REPLIES],
  clock_error_ms: 0.1,
  resolve_ms: 1,
  elapsed_ms: 0,
  observed_at: "2026-01-01T00:00:00.000Z",
  limitations: [],
};

/** Returns an outcome that the ping contract accepts, as JSON. Its one limitation has the proof. */
export function outcomeWith(proof: Proof, params: string): string {
  const { host } = JSON.parse(params) as { host: string };
  const data: PingResult = {
    ...TEMPLATE,
    host,
    elapsed_ms: Math.round(proof.spentMs),
    limitations: [JSON.stringify(proof)],
  };
  return JSON.stringify({ status: "ok", data });
}

/** Returns the proof in the data of a row. */
export function proofIn(data: unknown): Proof {
  const [text = "null"] = (data as PingResult).limitations;
  return JSON.parse(text) as Proof;
}
