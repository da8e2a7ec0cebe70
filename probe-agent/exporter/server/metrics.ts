import { Counter, Gauge, Registry } from "prom-client";
import type { Build } from "#shared/process/build.ts";
import { collectProcessMetrics } from "#shared/process/process-metrics.ts";

/** Metrics of the exporter itself, with the names of blackbox_exporter's. */
export interface ExporterMetrics {
  /** The file of modules was read at `now`, with or without success. */
  loaded(success: boolean, now: Date): void;
  unknownModule(): void;
  render(): Promise<string>;
}

/** Creates the metrics of an exporter and its process. */
export function createExporterMetrics({ version, revision, node }: Build): ExporterMetrics {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const registers = [registry];
  const labels = {
    branch: "",
    goarch: process.arch === "x64" ? "amd64" : process.arch,
    goos: process.platform,
    goversion: node,
    revision,
    version,
  };
  new Gauge({
    name: "blackbox_exporter_build_info",
    help: "A metric with a constant '1' value labeled by version, revision, branch, goversion from which blackbox_exporter was built, and the goos and goarch for the build.",
    labelNames: Object.keys(labels),
    registers,
  }).set(labels, 1);
  const success = new Gauge({
    name: "blackbox_exporter_config_last_reload_successful",
    help: "Blackbox exporter config loaded successfully.",
    registers,
  });
  const seconds = new Gauge({
    name: "blackbox_exporter_config_last_reload_success_timestamp_seconds",
    help: "Timestamp of the last successful configuration reload.",
    registers,
  });
  const unknown = new Counter({
    name: "blackbox_module_unknown_total",
    help: "Count of unknown modules requested by probes",
    registers,
  });
  return {
    loaded(isGood, now) {
      success.set(isGood ? 1 : 0);
      if (isGood) seconds.set(now.getTime() / 1000);
    },
    unknownModule: () => unknown.inc(),
    render: () => registry.metrics(),
  };
}
