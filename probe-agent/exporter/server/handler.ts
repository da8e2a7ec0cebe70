import type { IncomingMessage, ServerResponse } from "node:http";
import { isRecord } from "#shared/text/is-record.ts";
import { writeYaml } from "#shared/json/yaml.ts";
import type { ExporterConfig } from "#probe-agent/config.ts";
import type { ProberContext } from "#probe-agent/exporter/probe.ts";
import { whyRefused } from "#probe-agent/exporter/server/browser-guard.ts";
import { createHistory } from "#probe-agent/exporter/server/history.ts";
import type { ExporterMetrics } from "#probe-agent/exporter/server/metrics.ts";
import { loadModules, type LoadedModules } from "#probe-agent/exporter/server/modules.ts";
import { writeDebug, writeIndex } from "#probe-agent/exporter/server/pages.ts";
import { readScrape } from "#probe-agent/exporter/server/read-scrape.ts";
import { runProbe } from "#probe-agent/exporter/server/run-probe.ts";

/** What the handler of requests needs. */
interface HandlerOptions {
  readonly config: ExporterConfig;
  readonly modules: Extract<LoadedModules, { ok: true }>;
  readonly context: ProberContext;
  readonly metrics: ExporterMetrics;
  readonly version: string;
  /** Takes a line for the operator. */
  readonly warn: (line: string) => void;
  /** Takes a fault of ours, which the answer does not show. */
  readonly fault: (error: unknown) => void;
}

/** Answers requests, and reads the file of modules again. */
interface Handler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Returns the lines that say what is wrong with the file; the modules stay as they are then. */
  reload(): readonly string[];
}

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
/** Maximum number of probes at the same time: each has a connection and perhaps a body. */
const MOST_PROBES = 2_000;

/** Creates the handler of the exporter's paths, which are those of blackbox_exporter. */
export function createHandler(options: HandlerOptions): Handler {
  const { config, context, metrics } = options;
  const history = createHistory(config.historyLimit);
  let modules = options.modules;
  let running = 0;
  metrics.loaded(true, context.clock.now());

  function reload(): readonly string[] {
    const loaded = loadModules(config.configFile);
    metrics.loaded(loaded.ok, context.clock.now());
    if (loaded.ok) {
      modules = loaded;
      return [];
    }
    for (const line of loaded.lines) options.warn(`the modules are kept as they are: ${line}`);
    return loaded.lines;
  }

  async function probe(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    const header = request.headers["x-prometheus-scrape-timeout-seconds"];
    const timeout = typeof header === "string" ? header : undefined;
    const scrape = readScrape(query, timeout, modules.modules, config.timeoutOffsetMs);
    if (!scrape.ok) {
      if (scrape.isUnknownModule) metrics.unknownModule();
      return answer(response, scrape.code, `${scrape.message}\n`);
    }
    if (running >= MOST_PROBES) return answer(response, 503, `${MOST_PROBES} probes are running: ask again later\n`);
    const gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    running += 1;
    try {
      const { module, target, timeoutMs, debug } = scrape;
      const result = await runProbe({ module, target, timeoutMs, abandoned: gone.signal }, context);
      const past = {
        module: module.name,
        target,
        lines: result.lines,
        metrics: result.metrics,
        options: optionsOf(modules.masked, module.name),
      };
      if (gone.signal.aborted) return undefined;
      history.add({ ...past, success: result.verdict === "success" });
      if (debug) return answer(response, 200, writeDebug(past));
      if (result.verdict === "refused") return answer(response, 403, refusal(target, config));
      return answer(response, 200, result.metrics, METRICS_TYPE);
    } finally {
      running -= 1;
    }
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = whyRefused(request.headers, config.externalUrl);
    if (refused !== null) return answer(response, 403, `${refused}\n`);
    const url = URL.parse(request.url ?? "/", "http://exporter");
    const { routePrefix: prefix } = config;
    const path = url?.pathname.startsWith(prefix) === true ? url.pathname.slice(prefix.length) : null;
    const isWrite = request.method === "POST" || request.method === "PUT";
    if (path === "/-/reload") {
      if (!isWrite)
        return answer(response, 405, "This endpoint requires a POST request.\n", PLAIN, { allow: "POST, PUT" });
      const lines = reload();
      if (lines.length === 0) return answer(response, 200, "");
      return answer(response, 500, `failed to reload config:\n${lines.join("\n")}\n`);
    }
    if (request.method !== "GET" && request.method !== "HEAD" && !(isWrite && path === "/probe")) {
      return answer(response, 405, "This endpoint requires a GET request.\n", PLAIN, { allow: "GET, HEAD" });
    }
    switch (path) {
      case "/probe":
        return await probe(request, response, url?.searchParams ?? new URLSearchParams());
      case "/metrics":
        return answer(response, 200, await metrics.render(), METRICS_TYPE);
      case "/config":
        return answer(response, 200, writeYaml(modules.masked));
      case "/-/healthy":
        return answer(response, 200, "Healthy");
      case "/logs": {
        const past = history.find(Number(url?.searchParams.get("id") ?? ""));
        return past === null ? answer(response, 404, "Probe id not found\n") : answer(response, 200, writeDebug(past));
      }
      case "":
      case "/":
        return answer(response, 200, writeIndex(prefix, options.version, history.list()), "text/html; charset=utf-8");
      default:
        return answer(response, 404, "404 page not found\n");
    }
  }

  return {
    reload,
    handle(request, response) {
      route(request, response).catch((error: unknown) => {
        options.fault(error);
        if (!response.headersSent) answer(response, 500, "Internal error: the log of the exporter has it\n");
        else response.destroy();
      });
    },
  };
}

const PLAIN = "text/plain; charset=utf-8";

function answer(
  response: ServerResponse,
  code: number,
  body: string,
  type = PLAIN,
  fields: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    ...fields,
  });
  // Node sends a text together with the head, in one write.
  response.end(body);
}

function refusal(target: string, { allowTargets }: ExporterConfig): string {
  const how =
    allowTargets === null
      ? "Set VANTAGE_EXPORTER_ALLOW_TARGETS to the ranges of private targets, or listen on a loopback address."
      : "Add its range to VANTAGE_EXPORTER_ALLOW_TARGETS.";
  const never = "Metadata services of clouds and those who have opted out are never probed.";
  return `${JSON.stringify(target.slice(0, 200))} is not an allowed target. ${how} ${never}\n`;
}

/** Returns the options of one module as they are shown. */
function optionsOf(masked: unknown, name: string): unknown {
  const modules = isRecord(masked) ? masked["modules"] : null;
  return isRecord(modules) ? modules[name] : null;
}
