import { blackboxProbe, LONGEST_PROBE_MS } from "#shared/blackbox/contract.ts";
import type { Module } from "#shared/blackbox/module.ts";
import type { OptionFile } from "#shared/blackbox/read-modules.ts";
import { withHostname } from "#shared/blackbox/with-hostname.ts";
import { checkTargetUrl } from "#shared/internet/egress.ts";
import { splitHostPort } from "#shared/internet/host-port.ts";
import type { Path } from "#shared/json/yaml.ts";
import { readOptionFile, type LoadedModules } from "#shared/process/module-files.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { isSecretField } from "#shared/text/redact.ts";
import type { ResultOf, Scope } from "#shared/tools/define.ts";
import type { ExtraDestination } from "#control-plane/checks/target.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { exporterUrl } from "#control-plane/surfaces/blackbox/http-modules.ts";
import { NO_PORT, type FileModule, type ModuleCall } from "#control-plane/surfaces/blackbox/module.ts";

/** The operator's file of modules (VANTAGE_BLACKBOX_CONFIG), read. */
export type OperatorModules = Extract<LoadedModules, { ok: true }>;

/** Maximum size of a module with the content of its files, in octets of JSON: a job has at most 2 MB. */
const MOST_OCTETS = 1_000_000;
/** Time between the end of the agent's probe and that of the scrape, in milliseconds. */
const RETURN_MS = 250;

/** Creates the modules of the operator's file. Agents run them with the exporter's probers. */
export function createFileModules({ modules, written, files }: OperatorModules): ReadonlyMap<string, FileModule> {
  const all = isRecord(written) && isRecord(written["modules"]) ? written["modules"] : {};
  const filesOf = Map.groupBy(files, ({ path: [, name] }) => String(name));
  const create = (module: Module): FileModule => createModule(module, all[module.name], filesOf.get(module.name) ?? []);
  return new Map(Array.from(modules, ([name, module]) => [name, create(module)]));
}

function createModule(module: Module, written: unknown, files: readonly OptionFile[]): FileModule {
  const { name, prober, timeoutMs: own } = module;
  const used = files.filter(({ path: [, , section] }) => section === prober);
  // Of the sections of other probers nothing is sent.
  const options = { prober, [prober]: isRecord(written) ? (written[prober] ?? null) : null };
  return {
    name,
    contract: { ...blackboxProbe, scope: scopeOf(module) },
    isForOperator: isForOperator(module),
    async call(given, { hostname = null, timeoutMs: limit = null }): Promise<ModuleCall | FieldProblem> {
      const found = readTarget(module, given);
      if ("reason" in found) return found;
      const named = withHostname(module, hostname ?? "");
      if (typeof named === "string") return { field: "hostname", reason: "type", message: `cannot be used: ${named}` };
      const left = limit === null ? LONGEST_PROBE_MS : Math.max(limit - RETURN_MS, limit / 2);
      const timeout = Math.min(own ?? LONGEST_PROBE_MS, left, LONGEST_PROBE_MS);
      return {
        isParsed: true,
        params: {
          options: await withContents(options, used),
          target: found.target,
          hostname: hostname ?? "",
          timeout_ms: Math.max(1, Math.floor(timeout)),
        },
        reaches: found.reaches,
      };
    },
    metrics: (data) => (data as ResultOf<typeof blackboxProbe>).metrics,
    failure: [],
  };
}

function scopeOf(module: Module): Scope {
  switch (module.prober) {
    case "http":
    case "grpc":
      return "check";
    case "tcp":
      return module.options.tls ? "ssl" : "ping";
    case "icmp":
      return "ping";
    case "dns":
      return "dns";
  }
}

/**
 * Reports whether a module is for the operator's own keys alone. Others choose the target too, so they could read what
 * it sends, or use a way that is only for the operator.
 */
function isForOperator(module: Module): boolean {
  const { options, prober } = module;
  if ("source_ip_address" in options && options.source_ip_address !== null) return true;
  if ("tls_config" in options && (options.tls_config.cert !== null || options.tls_config.key !== null)) return true;
  if (prober !== "http") return false;
  const { basic_auth: basic, authorization, oauth2, proxy, headers } = module.options;
  const hasProxy = proxy.proxy_url !== null || proxy.proxy_from_environment;
  const hasCredentials = basic !== null || authorization !== null || oauth2 !== null;
  return hasProxy || hasCredentials || Object.keys(headers).some(isSecretField);
}

/** Returns the target as probers read it, and what the job connects to. */
function readTarget(
  { prober }: Module,
  given: string,
): { readonly target: string; readonly reaches: ExtraDestination } | FieldProblem {
  if (prober === "http") {
    const url = exporterUrl(given);
    const check = checkTargetUrl(url);
    if (check.ok || check.code !== "invalid_url") return { target: url, reaches: { kind: "url", target: url } };
    const message = "must be an http:// or https:// URL or a host name, without user name or password";
    return { field: "target", reason: "invalid_url", message };
  }
  const { host, port } = splitHostPort(given) ?? { host: "", port: null };
  if (prober === "tcp" && !port) return NO_PORT;
  if (host === "" || port === 0 || (prober === "icmp" && port !== null)) {
    const form = prober === "icmp" ? "a host" : "a host, host:port or [IPv6 address]:port";
    return { field: "target", reason: "type", message: `must be ${form} for this module` };
  }
  return { target: prober === "icmp" ? host : given, reaches: { kind: "host", target: host } };
}

/** Returns a module's value with the content of the files that it names, which are read now, in the place of their names. */
async function withContents(options: unknown, files: readonly OptionFile[]): Promise<unknown> {
  let sent = options;
  for (const { path, file } of files) {
    const [, , ...inside] = path;
    const read = await readOptionFile(file);
    if ("fault" in read) throw unusable(`the file of its option ${inside.join(".")} cannot be used: ${read.fault}`);
    // As where the prober reads the file: white space around a secret is not part of it.
    sent = replaceFile(sent, inside, inside.at(-1) === "body_file" ? read.text : read.text.trim());
  }
  if (Buffer.byteLength(JSON.stringify(sent)) > MOST_OCTETS) throw unusable("it has more than 1 MB with its files");
  return sent;
}

/** Replaces the option at a path, such as ca_file, by the one that has its content, such as ca. */
function replaceFile(value: unknown, [step = "", ...rest]: Path, text: string): unknown {
  const { [step]: inner, ...others } = isRecord(value) ? value : {};
  if (rest.length > 0) return { ...others, [step]: replaceFile(inner, rest, text) };
  return { ...others, [String(step).replace(/_file$/, "")]: text };
}

function unusable(why: string): Refusal {
  return new Refusal("probe_unavailable", { reason: "module", message: `The module cannot be run: ${why}` });
}
