import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_OPT_OUTS } from "#shared/internet/opt-out.ts";
import type { ExporterConfig } from "#probe-agent/config.ts";
import { startExporter, type Exporter } from "#probe-agent/exporter/server/start.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

/** What a test says of its exporter beside its modules. */
export interface TestExporterOptions extends Partial<Omit<ExporterConfig, "configFile" | "webConfigFile">> {
  /** The web configuration as an object. */
  readonly web?: object;
  /** Names whose owners have opted out. */
  readonly denied?: readonly string[];
  readonly proxyEnvironment?: Readonly<Record<string, string>>;
}

/** An exporter in this process. */
export interface TestExporter extends Exporter {
  readonly port: number;
  /** The folder of its files, which is removed after the test. */
  readonly folder: string;
  readonly configFile: string;
  /** Lines for the operator. */
  readonly warnings: readonly string[];
  readonly faults: readonly unknown[];
  /** Sends a request to a path of it. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Probes with these parameters, within 10 s where no other limit is given. */
  probe(query: Readonly<Record<string, string>>, timeoutSeconds?: number): Promise<ProbeAnswer>;
}

/** The metrics of an answer by their names with labels. */
export interface ProbeAnswer {
  readonly status: number;
  readonly text: string;
  value(series: string): number | undefined;
}

/** No raw sockets: what probes ICMP has tests of its own. */
const NO_ICMP: IcmpHost = {
  ready: () => Promise.resolve({ v4: false, v6: false, missing: [] }),
  capabilities: () => ({ v4: false, v6: false, missing: ["no raw sockets in this test"] }),
  pid: () => null,
  start: () => () => {},
  stop: () => Promise.resolve(),
};

/** Starts an exporter with modules as an object, or as the text of a file, on a free port. */
type OpenExporter = (modules: object | string, options?: TestExporterOptions) => Promise<TestExporter>;

/** Returns a function that starts exporters for the tests of a file. Each ends after its test. */
export function useExporters(): OpenExporter {
  const keep = closeAfterEach();
  return async (modules, options) => keep(await openExporter(modules, options));
}

async function openExporter(
  modules: object | string,
  { web, denied = [], proxyEnvironment = {}, ...config }: TestExporterOptions = {},
): Promise<TestExporter> {
  const folder = mkdtempSync(join(tmpdir(), "vantage-exporter-"));
  const configFile = join(folder, "blackbox.yml");
  writeFileSync(configFile, typeof modules === "string" ? modules : JSON.stringify({ modules }));
  const webConfigFile = web === undefined ? null : join(folder, "web.yml");
  if (webConfigFile !== null) writeFileSync(webConfigFile, JSON.stringify(web));
  const warnings: string[] = [];
  const faults: unknown[] = [];
  const started = await startExporter({
    config: {
      addresses: [{ host: "127.0.0.1", port: 0 }],
      allowTargets: null,
      externalUrl: null,
      routePrefix: "",
      timeoutOffsetMs: 0,
      historyLimit: 100,
      ...config,
      configFile,
      webConfigFile,
    },
    clock: { now: () => new Date(), monotonic: () => performance.now() },
    random: { bytes: (count) => randomBytes(count) },
    optOut: { ...NO_OPT_OUTS, deniesName: (name) => denied.includes(name) },
    icmpHost: NO_ICMP,
    userAgent: "Vantage-Test",
    proxyEnvironment,
    build: { version: "0.0.0", homepage: "https://vantage.example", revision: "unknown", node: process.version },
    warn: (line) => warnings.push(line),
    fault: (error) => faults.push(error),
  });
  if (!started.ok) {
    rmSync(folder, { recursive: true });
    throw new Error(started.lines.join("\n"));
  }
  const [port = 0] = started.exporter.ports;
  const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
  const exporter: TestExporter = {
    ...started.exporter,
    async close() {
      await started.exporter.close();
      rmSync(folder, { recursive: true });
    },
    port,
    folder,
    configFile,
    warnings,
    faults,
    ask,
    async probe(query, timeoutSeconds = 10) {
      const headers = { "x-prometheus-scrape-timeout-seconds": String(timeoutSeconds) };
      const response = await ask(`/probe?${new URLSearchParams(query).toString()}`, { headers });
      const text = await response.text();
      return { status: response.status, text, value: (series) => valueOf(text, series) };
    },
  };
  return exporter;
}

function valueOf(text: string, series: string): number | undefined {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
