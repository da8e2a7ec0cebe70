import type { MonitorPhases } from "#shared/monitor-checks/define.ts";

/** The parts of a response time in the order of their text. */
const ORDER = ["redirect_ms", "dns_ms", "connect_ms", "tls_ms", "processing_ms"] as const;

/** Returns phases as text, whole microseconds with commas between them: shorter than JSON, in a row of every check. */
export function encodePhases(phases: MonitorPhases | null): string | null {
  return phases === null ? null : ORDER.map((name) => Math.round(phases[name] * 1_000)).join(",");
}

/** Reads what encodePhases wrote, in seconds by phase; null if the text is null or has another form. */
export function decodePhases(text: string | null): readonly (readonly [phase: string, seconds: number])[] | null {
  const values = text?.split(",").map(Number) ?? [];
  if (values.length !== ORDER.length || !values.every(Number.isSafeInteger)) return null;
  return ORDER.map((name, index) => [name.slice(0, -3), (values[index] ?? 0) / 1e6] as const);
}
