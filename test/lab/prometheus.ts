import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { freePort } from "#test/support/free-port.ts";

/** Says why no Prometheus can run here; null if one can. */
export function whyNoPrometheus(): string | null {
  try {
    execFileSync("prometheus", ["--version"], { stdio: "pipe" });
    return null;
  } catch {
    return "skipped: prometheus is not installed (Debian: prometheus)";
  }
}

/** Replaces text that must exist. Otherwise a change of a documented configuration would stay unnoticed. */
export function replaceIn(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`not in the configuration: ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}

/** A series and its newest value. */
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A running Prometheus. */
export interface Prometheus {
  /** Returns the data of its own API; null if it gives none, as while it does not listen yet. */
  ask<T>(path: string): Promise<T | null>;
  query(expression: string): Promise<readonly Series[]>;
  stop(): Promise<void>;
}

/** Starts a Prometheus with the prometheus.yml of this folder, where it keeps its data too. */
export async function startPrometheus(folder: string): Promise<Prometheus> {
  const listen = `127.0.0.1:${await freePort()}`;
  mkdirSync(`${folder}/data`);
  const words = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const child = spawn("prometheus", [...words, `--web.listen-address=${listen}`, "--log.level=warn"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ask = async <T>(path: string): Promise<T | null> => {
    const url = `http://${listen}/api/v1/${path}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
    if (response?.ok !== true) return null;
    return ((await response.json()) as { readonly data: T }).data;
  };
  return {
    ask,
    async query(expression) {
      const path = `query?query=${encodeURIComponent(expression)}`;
      return (await ask<{ readonly result: readonly Series[] }>(path))?.result ?? [];
    },
    async stop() {
      if (child.exitCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}
