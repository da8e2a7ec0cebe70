import { createSamples } from "#probe-agent/exporter/samples.ts";
import type { Prober, ProberContext } from "#probe-agent/exporter/probe.ts";
import { proberContext } from "#test/probe-agent/exporter/recorded-probe.ts";
import { createManualClock } from "#test/support/clock.ts";

/** What a prober left. */
interface Probed {
  readonly verdict: string;
  /** Samples without the two lines before them, in the order of the text. */
  readonly lines: readonly string[];
  readonly text: string;
  /** Messages with their fields in JSON. */
  readonly log: readonly string[];
}

/** Runs a prober on this host. `timeoutMs` ends the probe, by default after any test. Its clock stands still. */
export async function runProber<Options>(
  prober: Prober<Options>,
  target: string,
  options: Options,
  { timeoutMs = 600_000, ...changed }: Partial<ProberContext> & { readonly timeoutMs?: number } = {},
): Promise<Probed> {
  const log: string[] = [];
  const samples = createSamples();
  const context = proberContext({ clock: createManualClock(new Date()), ...changed });
  const probe = {
    target,
    deadline: timeoutMs,
    signal: AbortSignal.timeout(timeoutMs),
    samples,
    log: (_level: string, message: string, fields: object = {}) =>
      void log.push(`${message} ${JSON.stringify(fields)}`),
  };
  const verdict = await prober(probe, options, context);
  const text = samples.render();
  return { verdict, text, log, lines: text.split("\n").filter((line) => line !== "" && !line.startsWith("#")) };
}

/** Returns the samples whose names begin so. */
export function named({ lines }: Probed, ...starts: readonly string[]): readonly string[] {
  return lines.filter((line) => starts.some((start) => line.startsWith(start)));
}
