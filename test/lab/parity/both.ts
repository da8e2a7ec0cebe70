import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { Case } from "#test/lab/parity/case.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";

/** What an exporter says to a probe. */
export interface Said {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

/** Debian's waits twenty seconds for some servers, whatever the limit; this is for an exporter that hangs. */
const PATIENCE_MS = 60_000;

/** Fields of a request. */
export interface Asked {
  /** X-Prometheus-Scrape-Timeout-Seconds. */
  readonly seconds?: string;
  readonly accept?: string;
}

/** A running exporter. */
export interface Running {
  ask(path: string, asked?: Asked): Promise<Said>;
  stop(): Promise<void>;
}

/** How a program is started. */
export interface Start {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a program on a free port of loopback and waits until it is healthy. */
export async function startProgram(how: (address: string) => Start): Promise<Running> {
  const address = `127.0.0.1:${await freePort()}`;
  const { command, env } = how(address);
  const [program, ...given] = command;
  const child = spawn(program, given, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log = `${log}${chunk.toString()}`.slice(-4000);
  });
  const ask = async (path: string, { seconds, accept }: Asked = {}): Promise<Said> => {
    const headers: Record<string, string> = {
      ...(seconds === undefined ? {} : { "x-prometheus-scrape-timeout-seconds": seconds }),
      ...(accept === undefined ? {} : { accept }),
    };
    const response = await fetch(`http://${address}${path}`, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  try {
    await until(
      async () => child.exitCode !== null || (await ask("/-/healthy")).status === 200,
      `${program} is healthy`,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  if (child.exitCode !== null) throw new Error(`${program} ended: ${log}`);
  return { ask, stop };
}

/** Replaces `{name}` by the place of that name. */
export function fill(text: string, places: Readonly<Record<string, string>>): string {
  return text.replaceAll(/(?<!\$)\{([a-z]\w*)\}/g, (_, name: string) => {
    const place = places[name];
    if (place === undefined) throw new Error(`no place is named ${name}`);
    return place;
  });
}

/** Writes a blackbox.yml with the modules of the chosen cases, each by its number. JSON is YAML. */
export function writeModules(
  config: string,
  isChosen: (each: Case) => boolean,
  cases: readonly Case[],
  places: Readonly<Record<string, string>>,
): void {
  const modules = cases.flatMap((each, index) =>
    each.module === null || !isChosen(each) ? [] : [[`case_${index}`, each.module]],
  );
  writeFileSync(config, fill(JSON.stringify({ modules: Object.fromEntries(modules) }), places));
}

/** The path of a case's probe. */
export function pathOf(
  { module, target, query = {} }: Case,
  index: number,
  places: Readonly<Record<string, string>>,
): string {
  const parameters = new URLSearchParams({
    module: module === null ? "nonexistent" : `case_${index}`,
    ...(target === null ? {} : { target: fill(target, places) }),
    ...query,
  });
  return `/probe?${parameters.toString()}`;
}

/** The parts of an answer with `debug=true`. */
export function splitDebug({ status, type, text }: Said): { readonly log: string; readonly said: Said } {
  const [before = "", rest] = text.split("Metrics that would have been returned:\n");
  if (rest === undefined) return { log: text, said: { status, type, text } };
  return { log: before, said: { status, type, text: rest.split("\n\n\nModule configuration:")[0] ?? "" } };
}

/** Metrics of an answer. */
interface Metrics {
  /** HELP and TYPE lines. */
  readonly families: readonly string[];
  /** Values by name with labels. */
  readonly series: ReadonlyMap<string, number>;
}

function read(text: string): Metrics {
  const lines = text.split("\n").filter((line) => line !== "");
  const samples = lines.filter((line) => !line.startsWith("#"));
  return {
    families: lines.filter((line) => line.startsWith("# ")).toSorted(),
    series: new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))])),
  };
}

const DURATIONS = /_(?:duration|time)_seconds(?:\{|$)/;

/** Lists what differs between Debian's answer and ours, one line each; durations only have to be possible. */
export function differences(theirs: Said, ours: Said): string[] {
  if (theirs.status !== ours.status) return [`status: ${theirs.status}, ours ${ours.status} (${ours.text.trim()})`];
  if (theirs.status !== 200) return [];
  const [expected, got] = [read(theirs.text), read(ours.text)];
  const found = [
    ...expected.families.filter((line) => !got.families.includes(line)).map((line) => `missing: ${line}`),
    ...got.families.filter((line) => !expected.families.includes(line)).map((line) => `unexpected: ${line}`),
    ...[...got.series.keys()].filter((name) => !expected.series.has(name)).map((name) => `unexpected: ${name}`),
  ];
  // Both clocks are read twice, so a part may seem longer than the whole by what lies between.
  const whole = (got.series.get("probe_duration_seconds") ?? 0) + 0.001;
  for (const [name, value] of expected.series) {
    const mine = got.series.get(name);
    if (mine === undefined) found.push(`missing: ${name} ${value}`);
    else if (!DURATIONS.test(name)) {
      if (!Object.is(mine, value)) found.push(`${name} ${value}, ours ${mine}`);
    } else if (!(mine >= 0 && mine <= whole)) found.push(`${name} ${mine}, the whole probe ${whole}`);
  }
  return found;
}
