import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { seed } from "./seed.ts";

/** A development server. */
export interface DevOptions {
  /** The clone. */
  readonly root: string;
  /** Where it keeps its data and the key. */
  readonly directory: string;
  /** Folders whose changes restart it. */
  readonly watched: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** The address of the demo site. */
  readonly site: string;
  readonly say: (text: string) => void;
  /** Aborted to stop everything. */
  readonly stop: AbortSignal;
}

/** An editor writes a file in several steps, and several files at a time; milliseconds. */
const SETTLED_MS = 300;
/** What the product prints at the end of each start. */
const READY = "Ctrl-C stops everything.";

/**
 * Runs the product until `stop`, and again after each change of the watched folders. A new data directory gets the
 * account of the first key, with monitors and a status page; the key stays in `key` beside the data, for the next day.
 */
export async function runDev(options: DevOptions): Promise<void> {
  const { watched, say, stop } = options;
  let product = start(options);
  let timer: NodeJS.Timeout | undefined;
  let changed: string | null = null;
  const wake = (): void => void product.kill("SIGTERM");
  const watchers = watched.map((folder) =>
    watch(folder, { recursive: true }, (_event, name) => {
      if (name === null || !/\.(?:ts|sql|proto)$/.test(name)) return;
      changed = name;
      clearTimeout(timer);
      timer = setTimeout(wake, SETTLED_MS);
    }),
  );
  stop.addEventListener("abort", wake);
  try {
    for (;;) {
      await ended(product);
      if (stop.aborted) return;
      // A product that ended by itself waits for the change that mends it.
      if (changed === null) {
        say("The product has ended; it starts again after the next change.\n");
        await nextChange(() => changed !== null, stop);
        if (stop.aborted) return;
      }
      say(`\n${changed} has changed: starting again ...\n`);
      changed = null;
      product = start(options);
    }
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", wake);
    for (const watcher of watchers) watcher.close();
  }
}

/** Starts the product, and seeds it when it is ready for the first time. */
function start({ root, directory, environment, site, say }: DevOptions): ChildProcess {
  const node = join(root, "node_modules/.bin/node");
  const product = spawn(node, [join(root, "shared/client/main.ts"), "up"], {
    cwd: root,
    env: { ...environment, VANTAGE_DATA_DIR: join(directory, "data") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const keyFile = join(directory, "key");
  let output = "";
  product.stdout.setEncoding("utf8").on("data", (text: string) => {
    say(text);
    if (output.includes(READY)) return;
    output += text;
    if (!output.includes(READY)) return;
    const base = /^ {2}URL +(\S+)$/m.exec(output)?.[1] ?? "";
    const first = /^ {2}First API key +(vtg_\S+) /m.exec(output)?.[1];
    if (first === undefined) {
      if (existsSync(keyFile)) say(`The key is ${readFileSync(keyFile, "utf8").trim()}\n`);
      return;
    }
    mkdirSync(dirname(keyFile), { recursive: true });
    writeFileSync(keyFile, `${first}\n`, { mode: 0o600 });
    seed(base, first, site).then(
      () => say(`Seeded: ${base}/status/demo-shop and its monitors; the key is in ${keyFile}\n`),
      (error: unknown) => say(`Not seeded: ${String(error)}\n`),
    );
  });
  return product;
}

function ended(product: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    product.once("error", () => resolve());
    product.once("close", () => resolve());
  });
}

/** Resolves when there is a change, or at the end. */
async function nextChange(isThere: () => boolean, stop: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    if (isThere() || stop.aborted) resolve();
  }, SETTLED_MS);
  await promise;
  clearInterval(timer);
}
