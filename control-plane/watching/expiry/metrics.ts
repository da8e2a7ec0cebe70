import { Counter, Histogram, type Registry } from "prom-client";

/** Metrics of the looks of this replica. */
export interface ExpiryMetrics {
  /** By kind (certificate, domain) and outcome (found, failed). */
  readonly looks: Counter<"kind" | "outcome">;
  /** Beginning of a sweep minus its time, seconds. */
  readonly lag: Histogram<"kind">;
  readonly events: Counter<"type">;
  /** Pauses of registries that refused a question or did not answer it. */
  readonly pauses: Counter;
}

/** Registers the metrics. */
export function createExpiryMetrics(registry: Registry): ExpiryMetrics {
  const registers = [registry];
  return {
    looks: new Counter({
      name: "vantage_expiry_looks_total",
      help: "Handshakes for certificates, and questions to registries",
      labelNames: ["kind", "outcome"],
      registers,
    }),
    lag: new Histogram({
      name: "vantage_expiry_lag_seconds",
      help: "Time from when a certificate or registration was due for a visit to its visit",
      labelNames: ["kind"],
      buckets: [1, 5, 15, 60, 300, 1_800, 7_200, 43_200],
      registers,
    }),
    events: new Counter({
      name: "vantage_expiry_events_total",
      help: "Events about certificates and registrations",
      labelNames: ["type"],
      registers,
    }),
    pauses: new Counter({
      name: "vantage_expiry_registry_pauses_total",
      help: "Pauses of registries that refused a question or did not answer it",
      registers,
    }),
  };
}
