import type { Outcome } from "#shared/contracts/outcome.ts";
import type { Module } from "#shared/blackbox/module.ts";

/** Result of a probe with the exporter's probers. */
interface BlackboxResult {
  readonly verdict: "success" | "failure";
  /** Prometheus' text format. */
  readonly metrics: string;
}

/** The exporter's probers, under the agent's own rules of targets. */
export interface BlackboxPort {
  /** Probes a target with a module that names no files. */
  probe(order: {
    readonly module: Module;
    readonly target: string;
    readonly timeoutMs: number;
  }): Promise<Outcome<BlackboxResult>>;
}
