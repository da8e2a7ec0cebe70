import type { Contract } from "#shared/tools/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { contractOf } from "#control-plane/kinds/contracts.ts";
import type { DnsCondition, MonitorSecrets, MonitorSettings, VisualSettings } from "#control-plane/kinds/monitor.ts";
import { VISUAL_DEFAULT } from "#control-plane/kinds/defaults.ts";
import { readTlsTarget } from "#control-plane/kinds/tls-target.ts";
import type { WatchedMonitor } from "#control-plane/checking/watch/watched.ts";

/** The check of a monitor as the agents know it. */
interface MonitorCall {
  readonly contract: Contract;
  /** Parsed by the contract. */
  readonly params: Readonly<Record<string, unknown>>;
}

type Checked = Pick<WatchedMonitor, "url" | "checkType" | "settings">;

const DNS_DEFAULTS: DnsCondition = { type: "A", op: "any", values: [], dnssec: "not_bogus" };

/** Calls without secrets, so that the settings of a monitor are parsed once and not for each check. */
const parsedCalls = new WeakMap<Checked, MonitorCall>();

/**
 * Returns the contract and the parameters of a monitor's check. `known` is the verdict known from the location: if it
 * changes, or if `alwaysWhole`, the agent sends the whole result too. Pass the same monitor object while the monitor
 * does not change. Throws if the settings do not fit the contract, which a stored monitor's do.
 */
export function monitorCall(
  monitor: Checked,
  secrets: MonitorSecrets,
  known: "up" | "down" | null,
  alwaysWhole: boolean,
): MonitorCall {
  let call = parsedCalls.get(monitor);
  if (call === undefined) {
    call = parseCall(monitor);
    parsedCalls.set(monitor, call);
  }
  const { contract, params } = call;
  const isHttp = monitor.checkType === "http" || monitor.checkType === "keyword";
  const hidden = isHttp ? { headers: Object.entries(secrets.request_headers), body: secrets.body } : {};
  return { contract, params: { ...params, ...hidden, known, always_whole: alwaysWhole } };
}

function parseCall(monitor: Checked): MonitorCall {
  const contract = contractOf(monitor.checkType);
  const { timeout_seconds } = monitor.settings;
  const raw = { ...targetParams(monitor), timeout_seconds, known: null, always_whole: false };
  const parsed = parseToolParams(contract, raw, { from: "strict", unknown: "refuse" });
  if (!parsed.ok) throw new Error(`${contract.name}: ${parsed.problem.field} ${parsed.problem.message}`);
  return { contract, params: parsed.value };
}

function targetParams({ url, checkType, settings }: Checked): Readonly<Record<string, unknown>> {
  switch (checkType) {
    case "http":
    case "keyword":
      return httpParams(url, settings);
    case "ssl":
      return tlsParams(url, settings.port);
    case "domain":
      return { domain: url };
    case "dns":
      return { domain: url, ...(settings.dns ?? DNS_DEFAULTS) };
    case "ping":
      return { host: url };
    case "port":
      return { host: url, port: settings.port };
    case "visual":
      return { url, ...visualParams(settings.visual ?? VISUAL_DEFAULT) };
  }
}

function tlsParams(url: string, port: number | null): Readonly<Record<string, unknown>> {
  const target = readTlsTarget(url, port);
  if (!target.ok) throw new Error("the target of an ssl monitor cannot be read");
  return { host: target.host, port: target.port };
}

function visualParams({ viewport, full_page, wait_ms }: VisualSettings): Readonly<Record<string, unknown>> {
  return { width: viewport.width, height: viewport.height, full_page, wait_ms };
}

function httpParams(
  url: string,
  { method, follow, keyword, keyword_mode, json, ...settings }: MonitorSettings,
): Readonly<Record<string, unknown>> {
  return {
    url,
    method,
    follow,
    headers: [],
    body: null,
    expected: (settings.expected_codes ?? [settings.expected_code]).map(rangeOf),
    keyword,
    keyword_mode,
    json,
  };
}

/** Converts a code, or a range such as "200-299", to both of its ends. */
function rangeOf(codes: number | string): readonly [number, number] {
  if (typeof codes === "number") return [codes, codes];
  const [from = "", to = from] = codes.split("-");
  return [Number(from), Number(to)];
}
